import { isPaused } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { childName, waitNames } from '../../core/waiting/conditions.ts'
import { nextDueAt } from '../../core/waiting/due.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'

const none: readonly string[] = []

/** Derives the row of a task, the columns that a store indexes, from the task alone. */
export function rowOf(task: Task): TaskRow {
  const paused = isPaused(task.state)
  const dueAt = nextDueAt(task)
  const readyAt = isReady(task) ? task.statusAt : undefined
  const row: { -readonly [K in keyof TaskRow]: TaskRow[K] } = {
    id: task.id,
    tenant: task.tenant,
    principal: task.principal,
    agent: task.agent,
    contextId: task.contextId,
    state: task.state,
    createdAt: task.createdAt,
    statusAt: task.statusAt,
    held: task.holds.length > 0,
    waits: paused && task.deferred === undefined ? waitsOf(task) : none,
  }
  if (task.parentId !== undefined) row.parentId = task.parentId
  if (readyAt !== undefined) row.readyAt = readyAt
  if (task.run !== undefined) row.owner = task.run.worker
  if (dueAt !== undefined) row.dueAt = dueAt
  return row
}

function waitsOf({ suspension }: Task): readonly string[] {
  const names = waitNames(suspension?.conditions)
  const { children } = suspension ?? {}
  return children === undefined ? names : [...names, ...children.map(childName)]
}

/**
 * Whether two rows are equal. Most steps change no indexed column, and then the row is not written.
 */
export function sameRow(a: TaskRow, b: TaskRow): boolean {
  return (
    a.state === b.state &&
    a.statusAt === b.statusAt &&
    a.readyAt === b.readyAt &&
    a.owner === b.owner &&
    a.dueAt === b.dueAt &&
    a.held === b.held &&
    a.waits.length === b.waits.length &&
    a.waits.every((name, index) => name === b.waits[index])
  )
}

/**
 * Whether no field that the row depends on was replaced, so that the row need not be derived again.
 */
export function keepsRow(before: Task, after: Task): boolean {
  return (
    before.state === after.state &&
    before.statusAt === after.statusAt &&
    before.run === after.run &&
    before.holds === after.holds &&
    before.suspension === after.suspension &&
    before.question === after.question &&
    before.deferred === after.deferred
  )
}

/** Whether the task can run and has no run. */
function isReady(task: Task): boolean {
  if (task.run !== undefined || task.holds.length > 0) return false
  return task.state === 'submitted' || task.state === 'working'
}
