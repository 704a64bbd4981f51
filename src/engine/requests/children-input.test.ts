/** A delegation that is in the parent's log, and a child agent whose schema has become stricter since. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../core/values/json.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { type Agent, agent } from '../author/agent.ts'
import type { AgentTask } from '../author/agent-task.ts'
import { alice, createHarness, dataOf, running } from '../test-support/engine-harness.ts'

const code = (error: { code: string }): string => error.code

/** A parent that delegates twice, first with a content that is refused, and stops in between. */
function family(input: z.ZodType): readonly Agent[] {
  const parent = async (task: AgentTask): Promise<void> => {
    const refused = await task.delegate('child', '{"city": 1}').catch(code)
    const child = await task.delegate('child', '{"city": "Oslo"}')
    await task.park({ reason: 'between' })
    const { state } = await child.result()
    await task.artifact({ name: 'result', data: [String(refused), state] })
  }
  const child = agent({
    name: 'child',
    description: 'Shows the input it got',
    input,
    run: async (task) => {
      await task.artifact({ name: 'input', data: task.input as Json })
    },
  })
  return [running(parent, { name: 'parent' }), child]
}

const before = z.object({ city: z.string(), nights: z.number().default(2) })
const stricter = z.object({ city: z.string(), guests: z.number() })
const slowly = (schema: z.ZodType): z.ZodType => schema.refine(async () => true)

it.each([
  ['at once', before, stricter],
  ['later', slowly(before), slowly(stricter)],
])('goes on in a rebuilt parent, where schemas answer %s', async (_, old, now) => {
  const first = await createHarness({ agents: family(old) })
  const { id } = await first.send('go')
  await first.until(id, 'paused-by-agent')
  await first.settled()
  const second = await first.recover({ agents: family(now) })
  await second.engine.resume(alice, { taskId: id })
  const ended = await second.until(id, 'completed')
  expect(dataOf(ended, 'result')).toEqual(['INVALID_INPUT', 'completed'])
  expect(ended.children).toHaveLength(1)
})

it('creates the child with the input that was checked, when the process died before that', async () => {
  const store = createMemoryStore()
  let dead = false
  const dying = Object.assign(Object.create(store) as typeof store, {
    commit: async (batch: Parameters<typeof store.commit>[0]) => {
      dead ||= batch.some(({ expected, row }) => expected === 0 && row?.agent === 'child')
      return dead ? new Promise<never>(() => undefined) : store.commit(batch)
    },
  })
  const first = await createHarness({ agents: family(before), store: dying })
  const { id } = await first.send('go')
  const [childId = ''] = (await first.until(id, (task) => task.children.length > 0)).children
  await first.settled()
  expect(await store.load('acme', childId)).toBeUndefined()
  const second = await first.recover({ store, agents: family(stricter) })
  await second.settled()
  const child = await second.until(childId, 'completed')
  expect(dataOf(child, 'input')).toEqual({ city: 'Oslo', nights: 2 })
})
