/** A rebuilt run sees the conversation the first run saw (P1 in past.ts). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import type { AgentTask } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  message,
  running,
} from '../test-support/engine-harness.ts'

const HOUR = 3_600_000

function seen({ context, referenced }: AgentTask): Json {
  return {
    messages: context.messages.map(({ messageId }) => messageId),
    tasks: context.tasks.map(({ id, state, version }) => [id, state, version]),
    artifacts: context.artifacts.map(({ taskId, artifact }) => [taskId, artifact.artifactId]),
    referenced: referenced.tasks.map(({ id }) => id),
  }
}

const talker = running(
  async (task) => {
    if (task.text === 'watch') {
      const first = await task.step('look', () => seen(task))
      await task.park({ reason: 'wait' })
      await task.artifact({ name: 'seen', data: [first, seen(task)] })
    } else if (task.text === 'park') {
      await task.park({ reason: 'x', onEvent: 'go' })
      await task.artifact({ name: 'late', text: 'late' })
    } else await task.artifact({ name: 'early', text: task.text })
  },
  {
    receive: (given, { reply }) =>
      given.parts.some((part) => 'text' in part && part.text === 'chat') ? reply('hi') : undefined,
  },
)

type Act = 'end' | 'park' | 'chat' | 'wake' | 'tick' | 'prune'

async function act(harness: Harness, what: Act): Promise<void> {
  if (what === 'wake') await harness.emit('go')
  else if (what === 'tick') harness.clock.advance(2 * HOUR)
  else if (what === 'prune') await harness.engine.prune()
  else await harness.engine.send(alice, { message: message(what, { contextId: 'c' }) })
}

async function compare(
  before: readonly Act[],
  after: readonly Act[],
  cachedTasks = 4,
): Promise<readonly Json[]> {
  const harness = await createHarness({
    agents: [talker],
    options: { warmForMs: 0, tasksForMs: HOUR, cachedTasks, concurrency: 1_000 },
  })
  for (const what of before) await act(harness, what)
  const earlier = (await harness.engine.list(alice, { limit: 1 })).tasks
  const sent = await harness.engine.send(alice, {
    message: message('watch', { contextId: 'c', referenceTaskIds: earlier.map(({ id }) => id) }),
  })
  const id = sent.kind === 'task' ? sent.task.id : ''
  await harness.until(id, 'paused-by-agent')
  for (const what of after) await act(harness, what)
  const next = await harness.recover()
  await next.engine.resume(alice, { taskId: id })
  return dataOf(await next.until(id, 'completed'), 'seen') as Json[]
}

describe('the conversation of a task', () => {
  it('P1: is the same for the first run and a rebuilt one, whatever happens in between', async () => {
    const acts = fc.array(fc.constantFrom<Act>('end', 'park', 'chat', 'wake', 'tick', 'prune'), {
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(acts, acts, async (before, after) => {
        const [first, rebuilt] = await compare(before, after)
        expect(rebuilt).toEqual(first)
      }),
      { numRuns: 40 },
    )
  })

  it('P1: is the same with more tasks than are shown, all within a millisecond', async () => {
    const many = (count: number): Act[] => Array.from({ length: count }, () => 'end')
    const [first, rebuilt] = await compare(many(205), many(30), 1_000)
    expect(rebuilt).toEqual(first)
    expect((first as { tasks: Json[] }).tasks).toHaveLength(200)
  })
})
