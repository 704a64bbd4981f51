/** How reminders travel to sub-tasks: the scenarios of the reference implementation (harn), each under its name. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import { quiet, toldBy } from '../../test-support/reminded-task.ts'

describe('propagation', () => {
  const names = ['parent', 'child', 'grandchild'] as const
  /** Three generations, each of which looks in its first turn and hands on. */
  const generations = names.map((name, index) =>
    running(
      async (task) => {
        if (name === 'parent') await task.park({ reason: 'x' })
        await task.turn(async (turn) => {
          const seen = turn.reminders.map((one) => ({ ...one, tags: [...one.tags] })) as Json
          await task.artifact({ name: 'seen', data: seen })
        })
        const next = names[index + 1]
        if (next === undefined) return
        const child = await task.delegate(next, 'x')
        await task.artifact({ name: 'child', data: child.id })
        await child.result()
      },
      { name, ...quiet },
    ),
  )

  interface Line {
    readonly harness: Harness
    readonly parentId: string
    /** What each generation saw. */
    readonly seen: readonly (readonly Readonly<Record<string, Json>>[])[]
    readonly ids: readonly string[]
  }

  async function passedOn(...reminders: readonly ReminderRequest[]): Promise<Line> {
    const harness = await createHarness({ agents: generations })
    const { id: parentId } = await harness.send('go')
    await harness.until(parentId, 'paused-by-agent')
    for (const reminder of reminders)
      await harness.engine.remind(alice, { taskId: parentId, reminder })
    await harness.engine.resume(alice, { taskId: parentId })
    const ids: string[] = []
    const seen: Line['seen'][number][] = []
    for (let id: string | undefined = parentId; id !== undefined; ) {
      const task = await harness.until(id, 'completed')
      ids.push(id)
      seen.push(dataOf(task, 'seen') as unknown as Line['seen'][number])
      const next = dataOf(task, 'child')
      id = typeof next === 'string' ? next : undefined
    }
    return { harness, parentId, seen, ids }
  }

  const one = (propagate: ReminderRequest['propagate']): ReminderRequest => ({
    id: `to ${propagate}`,
    body: 'b',
    ttlTurns: 3,
    dedupeKey: 'k',
    propagate,
  })

  it('propagate_all_subagent, propagate_all_to_subagent: three levels see it, each copy names the task it was injected into', async () => {
    const { seen, parentId } = await passedOn(one('all'))
    const copy = { id: 'to all', propagate: 'all', dedupeKey: 'k', body: 'b' }
    expect(seen).toMatchObject([
      [{ ...copy, ttlTurns: 3 }],
      [{ ...copy, ttlTurns: 2, inheritedFrom: parentId }],
      [{ ...copy, ttlTurns: 1, inheritedFrom: parentId }],
    ])
    expect(seen[0]?.[0]).not.toHaveProperty('inheritedFrom')
  })

  it('propagate_session_subagent: the child sees it, the grandchild does not', async () => {
    const { seen, parentId } = await passedOn(one('session'))
    expect(seen).toMatchObject([[{}], [{ id: 'to session', inheritedFrom: parentId }], []])
  })

  it('propagate_none_subagent: the child does not see it', async () => {
    expect((await passedOn(one('none'))).seen.map((list) => list.length)).toEqual([1, 0, 0])
  })

  it('propagate_handoff, propagate_none_dropped_at_handoff: of all three, two travel, in order', async () => {
    const { seen } = await passedOn(
      ...(['all', 'session', 'none'] as const).map((propagate) => ({
        id: propagate,
        body: 'b',
        propagate,
      })),
    )
    expect(seen.map((list) => list.map(({ id }) => id))).toEqual([
      ['all', 'session', 'none'],
      ['all', 'session'],
      ['all'],
    ])
  })

  it('lifecycle_inherited: the child tells of a copy under the same id, and nothing comes back to the parent', async () => {
    const { harness, ids } = await passedOn(one('all'))
    const [parent, child] = await Promise.all(ids.map(async (id) => toldBy(await harness.log(id))))
    expect(child).toEqual(['emitted to all 1', 'expired to all task_ended'])
    expect(parent).toEqual(['injected to all', 'emitted to all 1', 'expired to all task_ended'])
  })

  it('copies the reminders that are pending when the child is created, and none later', async () => {
    const waiting = signal()
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            const child = await task.delegate('child', 'x')
            waiting.fire()
            await task.artifact({ name: 'child', data: child.id })
            await task.ask('?')
          },
          { name: 'parent', ...quiet },
        ),
        running((task) => task.park({ reason: 'x' }).then(() => undefined), { name: 'child' }),
      ],
    })
    const { id } = await harness.send('go')
    await waiting.promise
    const childId = String(dataOf(await harness.until(id, 'input-required'), 'child'))
    await harness.engine.remind(alice, { taskId: id, reminder: { body: 'b', propagate: 'all' } })
    await harness.until(childId, 'paused-by-agent')
    expect(await harness.engine.reminders(alice, childId)).toEqual([])
  })
})
