/** Two stops at once are refused (S1 to S3 of `one-stop.ts`). */
import { expect, it } from 'vitest'
import { textOf } from '../../../core/messages/message.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  running,
} from '../../test-support/engine-harness.ts'

const child = running((task) => task.park({ reason: 'child' }).then(() => 'ended'), {
  name: 'child',
})

async function endOf(
  run: (task: AgentTask) => Promise<unknown>,
): Promise<{ readonly text: string; readonly state: string; readonly types: readonly string[] }> {
  const harness = await createHarness({
    agents: [running(async (task) => void (await run(task))), child],
  })
  const { id } = await harness.send('go')
  for (let n = 0; n < 5; n++) await harness.pass(1)
  const task = await harness.get(id)
  const text = task.statusMessage === undefined ? '' : textOf(task.statusMessage)
  return { text, state: task.state, types: await harness.types(id) }
}

const both = 'One park can wait for both, and the first wakes it: await task.park'

it.each<[string, (task: AgentTask) => Promise<unknown>, string]>([
  [
    'a race of a park and a sleep',
    (task) => Promise.race([task.park({ reason: 'x', onEvent: 'e' }), task.sleep('1 hour')]),
    `task.park and task.sleep cannot wait at the same time: a task stops once. ${both}({ reason: '…', onEvent, timeout: { afterMs: '1 hour' } })`,
  ],
  [
    'two parks in Promise.all',
    (task) => Promise.all(['a', 'b'].map((onEvent) => task.park({ reason: onEvent, onEvent }))),
    `${both}({ reason: '…', onEvent })`,
  ],
  [
    'a race of a child and a sleep',
    async (task) => {
      const one = await task.delegate('child', 'go')
      await Promise.race([one.result(), task.sleep('1 hour')])
    },
    `child.result and task.sleep cannot wait at the same time: a task stops once. ${both}({ reason: '…', child, timeout: { afterMs: '1 hour' } })`,
  ],
  [
    'a park while the result of a child is waited for, in later code',
    async (task) => {
      const one = await task.delegate('child', 'go')
      const result = one.result()
      await task.step('between', () => 1)
      await Promise.all([result, task.park({ reason: 'x' })])
    },
    `${both}({ reason: '…', child, onEvent })`,
  ],
  [
    'a question with a time',
    (task) => Promise.race([task.ask('yes?'), task.sleep('1 hour')]),
    "A question can expire by itself: await task.ask(…, { expiresInMs: '1 hour' })",
  ],
  [
    'two questions',
    (task) => Promise.all([task.ask('a?'), task.requireConsent({ prompt: 'b?', operation: 1 })]),
    'Await one after the other: await task.ask(…)',
  ],
])(
  'S1 and S2: %s is refused at once, and the error shows the call that does it',
  async (_, run, problem) => {
    const { text, state, types } = await endOf(run)
    expect(text).toContain(problem)
    expect(state).toBe('failed')
    expect(types).not.toContain('parked')
    expect(types).not.toContain('asked')
  },
)

it('stops one after the other, and children side by side, are no two stops', async () => {
  const { state, text } = await endOf(async (task) => {
    await task.park({ reason: 'a', trigger: { at: '2000-01-01T00:00:00Z' } })
    await task.sleep(0)
    const children = await Promise.all(['a', 'b'].map((name) => task.delegate('child', name)))
    await Promise.all(children.map((one) => one.cancel()))
    await Promise.all(children.map((one) => one.result()))
    await Promise.all([task.step('x', () => 1), task.sleep(0)])
  })
  expect([state, text]).toEqual(['completed', ''])
})

/** Catches the refusals, and goes on. */
async function stubborn(task: AgentTask): Promise<void> {
  const said: string[] = []
  const note = (name: string) => (error: Error) => void said.push(`${name} ${error.message.length}`)
  const first = task.park({ reason: 'a' }).catch(note('first'))
  await Promise.all([first, task.sleep('1 hour').catch(note('second'))])
  await task.step('between', () => 1)
  const later = task.park({ reason: 'b' })
  const refused = task.step('beside', () => 1).then(() => task.ask('?').catch(note('third')))
  await Promise.all([later, refused])
  await task.step('after', () => 1)
  await task.artifact({ name: 'said', data: said })
}

async function finished(harness: Harness, id: string): Promise<unknown> {
  await harness.engine.resume(alice, { taskId: id })
  return dataOf(await harness.until(id, 'completed'), 'said')
}

it('S3: a rebuilt run refuses the same calls', async () => {
  const said: unknown[] = []
  for (const warmForMs of [60_000, 0]) {
    const harness = await createHarness({ agents: [running(stubborn)], options: { warmForMs } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.settled()
    const next = warmForMs === 0 ? await harness.recover() : harness
    said.push(await finished(next, id))
    expect((await next.types(id)).filter((type) => type === 'parked')).toHaveLength(1)
  }
  expect(said[0]).toHaveLength(3)
  expect(said[1]).toEqual(said[0])
})
