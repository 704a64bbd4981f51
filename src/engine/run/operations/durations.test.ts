/** One convention for time: milliseconds, or a text such as '30 minutes'. */
import { describe, expect, it } from 'vitest'
import { Fatal } from '../../author/agent.ts'
import type { AgentTask, Sleep } from '../../author/agent-task.ts'
import { createHarness, effects, type Harness, running } from '../../test-support/engine-harness.ts'

const DAY = 86_400_000

async function stopped(run: (task: AgentTask) => Promise<unknown>): Promise<{
  readonly harness: Harness
  readonly id: string
}> {
  const harness = await createHarness({ agents: [running((task) => run(task).then(() => 'done'))] })
  const { id } = await harness.send('go')
  await harness.until(id, ({ state }) => state !== 'working' && state !== 'submitted')
  return { harness, id }
}

describe('task.sleep', () => {
  it.each<[string, (now: number) => Sleep]>([
    ['milliseconds', () => 3 * DAY],
    ['a text', () => '3 days'],
    ['an instant in ISO 8601', (now) => ({ until: new Date(now + 3 * DAY).toISOString() })],
    ['an instant in epoch milliseconds', (now) => ({ until: now + 3 * DAY })],
    ['a Date', (now) => ({ until: new Date(now + 3 * DAY) })],
  ])('takes %s', async (_, time) => {
    const { harness, id } = await stopped((task) => task.sleep(time(task.now())))
    await harness.pass(3 * DAY - 1)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.pass(1)
    expect((await harness.ended(id)).state).toBe('completed')
  })

  it('takes the same time as text and as number after the code was changed', async () => {
    const { harness, id } = await stopped((task) => task.sleep(DAY))
    const changed = running((task) => task.sleep('1 day').then(() => 'done'))
    const next = await harness.recover({ agents: [changed] })
    await next.pass(DAY)
    expect((await next.ended(id)).state).toBe('completed')
  })

  it.each<unknown>([
    'soon',
    '3 fortnights',
    { until: 'tomorrow' },
    { until: Number.NaN },
    {},
    null,
  ])('refuses %j', async (time) => {
    const { harness, id } = await stopped((task) => task.sleep(time as Sleep))
    expect((await harness.get(id)).failure).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('durations of other calls', () => {
  it('ends a park after a text, and keeps minutes on the wire', async () => {
    const { harness, id } = await stopped((task) =>
      task.park({ reason: 'x', timeout: { afterMs: '90 seconds', onTimeout: 'fail' } }),
    )
    const { suspension } = await harness.get(id)
    expect(suspension?.conditions?.timeout).toEqual({ durationMinutes: 1.5, onTimeout: 'fail' })
    await harness.pass(90_000)
    expect((await harness.ended(id)).state).toBe('failed')
  })

  it('lets a question expire after a text', async () => {
    const { harness, id } = await stopped((task) => task.ask('Well?', { expiresInMs: '2 days' }))
    await harness.pass(2 * DAY)
    expect((await harness.ended(id)).state).toBe('failed')
  })

  it('waits between attempts as long as the texts say, and not after a Fatal', async () => {
    const done = effects()
    const retry = {
      attempts: 3,
      backoffMs: '1 minute',
      factor: 10,
      maxBackoffMs: '5 minutes',
    } as const
    const agent = running(async (task) => {
      await task.step(
        'work',
        ({ attempt }) => {
          done.note(`attempt ${attempt}`)
          throw attempt === 3 ? new Fatal('no') : new Error('again')
        },
        { retry, timeoutMs: '1 hour' },
      )
    })
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.pass(59_999)
    expect(done.list).toEqual(['attempt 1'])
    await harness.pass(1)
    await harness.pass(5 * 60_000)
    expect(done.list).toEqual(['attempt 1', 'attempt 2', 'attempt 3'])
    expect((await harness.ended(id)).failure).toMatchObject({ message: 'no' })
  })

  it('are allowed in the options of an engine', async () => {
    const agent = running((task) => task.park({ reason: 'x' }).then(() => undefined))
    const harness = await createHarness({ agents: [agent], options: { warmForMs: '5 seconds' } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    expect((await harness.engine.health()).runs.warm).toBe(1)
    await harness.pass(5_000)
    expect((await harness.engine.health()).runs.warm).toBe(0)
  })
})
