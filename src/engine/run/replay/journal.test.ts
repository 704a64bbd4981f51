import { describe, expect, it } from 'vitest'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import { caught, keeping, resultOf } from '../test-support/results.ts'

// R4 of run-core.ts.
describe('values', () => {
  it('R4: are durable before the step that saw them, also one that another branch handed in', async () => {
    const order: string[] = []
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const see = async (name: string) => {
            const value = task.uuid()
            await task.step(name, async () => {
              const log = await harness.log(task.id)
              const kept = log.some((record) => record.type === 'value' && record.value === value)
              order.push(`${name} ${kept}`)
            })
          }
          await Promise.all([see('a'), task.say('hello'), see('b')])
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'completed')
    expect(order).toEqual(['a true', 'b true'])
  })
})

describe('continueAs', () => {
  it('closes the journal and starts again with the state, for as long as it likes', async () => {
    const harness = await createHarness({
      options: { journalRecords: 20 },
      agents: [
        keeping(async (task) => {
          const round = (task.state as number | undefined) ?? 0
          await task.step('work', () => round)
          if (round < 30) await task.continueAs(round + 1)
          return round
        }),
      ],
    })
    const { id } = await harness.send('go')
    const task = await harness.until(id, 'completed')
    expect(dataOf(task, 'result')).toBe(30)
    expect(task.journal.generation).toBe(30)
  })

  it('makes keys of its own in each generation, and keeps the transcript', async () => {
    const keys: string[] = []
    const harness = await createHarness({
      agents: [
        keeping(async (task) => {
          await task.step('work', ({ idempotencyKey }) => keys.push(idempotencyKey))
          const seen = await task.turn((turn) => {
            turn.record('agent', 'hello')
            return turn.transcript.length
          })
          if (task.state === undefined) await task.continueAs({ second: true })
          return seen
        }),
      ],
    })
    const { id } = await harness.send('go')
    const task = await harness.until(id, 'completed')
    expect(new Set(keys).size).toBe(2)
    expect(dataOf(task, 'result')).toBe(3)
  })

  it('while a pause quiesces lets the pause commit before the next generation works', async () => {
    const done = effects()
    const go = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          if (task.state === 1) return void (await task.step('next', () => done.note('next')))
          await task.turn(() => task.step('first', () => go.promise))
          await task.continueAs(1)
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.engine.pause(alice, { taskId: id, mode: 'wait_for_completion', graceMs: 0 })
    go.fire()
    await harness.until(id, 'paused-by-client')
    expect(done.list).toEqual([])
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['next'])
  })

  it('of what is no JSON is refused', async () => {
    const error = await resultOf((task) => caught(task.continueAs({ big: 1n } as never)))
    expect(error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('state.big'),
    })
  })
})

describe('the journal limit', () => {
  it('stops a task that grows without continueAs, with advice; resume lets it go on', async () => {
    const harness = await createHarness({
      options: { journalRecords: 10 },
      agents: [
        running(async (task) => {
          for (let n = 0; n < 15; n++) await task.say(`${n}`)
        }),
      ],
    })
    const { id } = await harness.send('go')
    const task = await harness.until(id, 'paused-by-client')
    expect(task.suspension).toMatchObject({
      reason: 'journal-limit',
      summary: expect.stringContaining('continueAs'),
    })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (now) => now.epoch === 2 || now.state === 'completed')
    if ((await harness.get(id)).state !== 'completed') {
      await harness.engine.resume(alice, { taskId: id })
    }
    const ended = await harness.until(id, 'completed')
    expect(ended.history).toHaveLength(1 + 15)
  })
})
