/**
 * Wakes tasks that parked until a child ends. The end is written before the waiting tasks are read, and the park is written
 * before ended children are read. So the end finds the task, or the task finds the end. Both are follow-up work
 * (`upkeep/follow-ups.ts`), which another process repeats after a crash.
 *
 * K1  One end wakes a park, and it disarms the other conditions in the same commit (`core/decide/waking.ts`).
 * K2  A task is woken only by children that it may read (`requests/child-of.ts`).
 */

import { waitsForChild } from '../../core/decide/waking.ts'
import { isTerminal, terminalStates } from '../../core/states.ts'
import type { EndedChild } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import { childName } from '../../core/waiting/conditions.ts'
import type { TaskQuery, TaskRow, TaskStore } from '../../ports/store/tasks.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { Runs } from '../executor/runs.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { originsOf, readableChildren } from '../requests/child-of.ts'

export interface WakeByChild {
  /** A task with a parent has ended: wakes the tasks that wait for it. */
  ended(child: Task): Promise<void>
  /** A task has stopped: wakes it if one of the children that it waits for has ended already. */
  lookBack(task: Task): Promise<void>
}

const PAGE = 256

export function createWakeByChild(deps: {
  readonly store: Pick<TaskStore, 'list'> & Pick<WorkStore, 'waiting'>
  readonly ledger: Pick<Ledger, 'read'>
  readonly runs: Pick<Runs, 'commit'>
}): WakeByChild {
  const { store, ledger, runs } = deps

  async function offer(taskId: string, child: Task): Promise<void> {
    const task = await ledger.read(taskId, child.tenant)
    if (task === undefined || !waitsForChild(task, child.id)) return
    const isReadable = await readableChildren({ ledger }, task)
    if (!isReadable(child)) return
    const end = endOf(child)
    await runs.commit(taskId, task, (_task, run) => ({
      type: 'child-end',
      child: end,
      ...(run === undefined ? {} : { run }),
    }))
  }

  /** The child that ended first of those that the task waits for. */
  async function firstEnded(task: Task): Promise<Task | undefined> {
    const wanted = new Set(task.suspension?.children)
    let first: TaskRow | undefined
    for (const { id: parentId, tenant } of await originsOf({ ledger }, task)) {
      for await (const row of endedChildren({ tenant, parentId })) {
        if (wanted.has(row.id) && (first === undefined || row.statusAt <= first.statusAt))
          first = row
      }
    }
    const child = first && (await ledger.read(first.id, first.tenant))
    return child !== undefined && isTerminal(child.state) && !isUnreadable(child)
      ? child
      : undefined
  }

  async function* endedChildren(
    of: Pick<TaskQuery, 'tenant' | 'parentId'>,
  ): AsyncGenerator<TaskRow> {
    let before: TaskQuery['before']
    for (;;) {
      const query: TaskQuery = { ...of, states: terminalStates, limit: PAGE }
      const page = await store.list(before === undefined ? query : { ...query, before })
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      before = { statusAt: last.statusAt, id: last.id }
    }
  }

  return {
    async ended(child) {
      if (child.parentId === undefined || isUnreadable(child)) return
      for (let after = ''; ; ) {
        const page = await store.waiting(child.tenant, [childName(child.id)], after, PAGE)
        for (const taskId of page) await offer(taskId, child)
        const last = page.at(-1)
        if (last === undefined || page.length < PAGE) return
        after = last
      }
    },
    async lookBack(task) {
      if (task.suspension?.children === undefined) return
      const child = await firstEnded(task)
      if (child !== undefined) await offer(task.id, child)
    },
  }
}

/** @param child a task that has ended */
function endOf({ id: taskId, state, statusMessage }: Task): EndedChild {
  if (!isTerminal(state)) throw new Error(`task ${taskId} has not ended`)
  return { taskId, state, ...(statusMessage === undefined ? {} : { message: statusMessage }) }
}
