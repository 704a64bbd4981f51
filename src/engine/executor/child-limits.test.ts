/** How deep and how wide a family of tasks may become: `taskDepth` and `childrenPerTask`. */
import { expect, it } from 'vitest'
import { isLullError } from '../../core/errors.ts'
import { fork } from '../../core/evolve.ts'
import { textOf } from '../../core/messages/message.ts'
import type { AgentTask } from '../author/agent-task.ts'
import { alice, createHarness, type Harness, running } from '../test-support/engine-harness.ts'

async function countOf({ engine }: Harness): Promise<number> {
  return (await engine.list(alice, { limit: 100 })).tasks.length
}

const endless = running(
  async (task) => {
    const child = await task.delegate('worker', 'again')
    const { state, message } = await child.result()
    if (state === 'failed') throw new Error(message && textOf(message))
  },
  { concurrency: 100 },
)

it('an endless recursion ends at the depth limit with a clear error', async () => {
  const harness = await createHarness({ agents: [endless], options: { taskDepth: 5 } })
  const { id } = await harness.send('go')
  for (let n = 0; n < 8; n++) await harness.settled()
  expect(await countOf(harness)).toBe(6)
  const root = await harness.ended(id)
  expect(root.state).toBe('failed')
  expect(root.statusMessage && textOf(root.statusMessage)).toContain('taskDepth (5)')
})

it('the depth of a task is in its first record, and a fork begins anew', async () => {
  const harness = await createHarness({ agents: [endless], options: { taskDepth: 3 } })
  const { id } = await harness.send('go')
  await harness.ended(id)
  let deepest = await harness.get(id)
  for (const depth of [undefined, 1, 2, 3]) {
    expect(deepest.depth).toBe(depth)
    const [child] = deepest.children
    if (child !== undefined) deepest = await harness.get(child)
  }
  const facts = { taskId: 'task-2', contextId: 'context-2', from: deepest.id, step: 'step:x#1' }
  const forked = fork(deepest, { type: 'forked', seq: 9, at: 0, ...facts })
  expect({ ...deepest, ...forked }.depth).toBeUndefined()
})

/** Delegates at once as often as the message says. Answers how many calls were refused. */
async function wide(task: AgentTask): Promise<string> {
  if (task.text === 'child') return 'done'
  const calls = Array.from({ length: Number(task.text) }, () =>
    task.delegate('worker', 'child').then(
      () => 'made',
      (error: unknown) => (isLullError(error, 'LIMIT_EXCEEDED') ? 'refused' : String(error)),
    ),
  )
  const ends = await Promise.all(calls)
  await task.park({ reason: 'look' })
  return ends.join(' ')
}

it('a task has at most its limit of children, also when it delegates at once and is rebuilt', async () => {
  const options = { childrenPerTask: 3, warmForMs: 0 }
  const harness = await createHarness({ agents: [running(wide)], options })
  const { id } = await harness.send('5')
  await harness.until(id, (task) => task.suspension !== undefined)
  const next = await harness.recover()
  await next.settled()
  await next.engine.resume(alice, { taskId: id })
  const task = await next.ended(id)
  expect(task.statusMessage && textOf(task.statusMessage)).toBe('made made made refused refused')
  expect(task.children).toHaveLength(3)
})
