/**
 * Which tasks are the children of a task. A log can be imported, and it can name any task as a child, as a parent or as the task
 * it was forked from. So a name in the log of the parent proves nothing: every read, watch, result, cancel, hold and pause of a
 * child asks here.
 *
 * C1  A child names its parent, and both are of one tenant. Any other task looks to the parent like one that does not exist.
 * C2  A fork reads the children of the task whose past it has, if that task is of the same tenant and principal. It never acts
 *     on them.
 */
import type { Task } from '../../core/task.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import type { Ledger } from '../ledger/ledger.ts'

interface Deps {
  readonly ledger: Pick<Ledger, 'read'>
}
type Parent = Pick<Task, 'id' | 'tenant'>
type Child = Pick<Task | TaskRow, 'id' | 'tenant' | 'parentId'>

/** Forks of forks. Two imported logs can name each other as their origin. */
const MOST_ORIGINS = 32

/** C1. */
export function isChildOf(parent: Parent, task: Child): boolean {
  return task.parentId === parent.id && task.tenant === parent.tenant && task.id !== task.parentId
}

/** The child, for whoever acts on it in the name of its parent. Undefined: the parent has no such child. */
export async function childOf(
  { ledger }: Deps,
  parent: Parent,
  childId: string,
): Promise<Task | undefined> {
  const task = await ledger.read(childId, parent.tenant)
  return task !== undefined && isChildOf(parent, task) ? task : undefined
}

/** The children that exist of those that the log of the parent names. */
export async function childrenOf(
  deps: Deps,
  parent: Pick<Task, 'id' | 'tenant' | 'children'>,
): Promise<readonly Task[]> {
  const found = await Promise.all(parent.children.map((id) => childOf(deps, parent, id)))
  return found.filter((child) => child !== undefined)
}

/** Whether a task is a child that the run of the parent may read: its own, or one of its origins (C2). */
export type IsReadable = (task: Task) => boolean

export async function readableChildren(deps: Deps, task: Task): Promise<IsReadable> {
  const parents = await originsOf(deps, task)
  return (child) => parents.some((parent) => isChildOf(parent, child))
}

/** The task, and the tasks whose past it has. Their children are those that the task may read (C2). */
export async function originsOf({ ledger }: Deps, task: Task): Promise<readonly Task[]> {
  const parents = [task]
  for (let next: Task | undefined = task; next?.forkedFrom !== undefined; ) {
    const origin: Task | undefined = await ledger.read(next.forkedFrom.taskId, task.tenant)
    const isSameOwner = origin?.tenant === task.tenant && origin.principal === task.principal
    next = isSameOwner && parents.length <= MOST_ORIGINS ? origin : undefined
    if (next !== undefined) parents.push(next)
  }
  return parents
}
