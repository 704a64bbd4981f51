/** Reads tasks and their logs for a caller. */

import { LullError } from '../../core/errors.ts'
import type { TextPosition } from '../../core/messages/live-text.ts'
import type { Push } from '../../core/push.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Signal } from '../../core/signal.ts'
import { isTerminal, type State, states } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { TaskFilter, TaskRow } from '../../ports/store/tasks.ts'
import { type Caller, scopeOf } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { listInput, subscribeInput } from '../input/inputs.ts'
import { parse } from '../input/parse.ts'
import type { CountRequest, ListRequest } from '../input/requests.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import type { TaskReader } from '../streams/log-reader.ts'
import { readWithin } from './read-within.ts'

export interface TaskPage {
  readonly tasks: readonly Task[]
  /** The number of matching tasks on all pages together. */
  readonly total: number
  /** Absent on the last page. */
  readonly cursor?: string
}

export async function list(
  context: EngineContext,
  caller: Caller,
  request: ListRequest = {},
): Promise<TaskPage> {
  const { cursor, limit = 50, ...given } = parse(listInput, request)
  const filter: TaskFilter = { ...defined(given), ...scopeOf(caller) }
  const { store, places, ledger, options } = context
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const [rows, total] = await Promise.all([
    store.list({ ...filter, limit: limit + 1, ...(before === undefined ? {} : { before }) }),
    store.count(filter),
  ])
  const page = rows.slice(0, limit)
  const { read, values: tasks } = await readWithin(
    store,
    options.listBytes,
    page,
    ({ tenant, id }) => {
      places.learn(id, tenant)
      return ledger.read(id)
    },
  )
  const last = page[read - 1]
  return {
    tasks,
    total,
    ...(rows.length > read && last !== undefined ? { cursor: `${last.statusAt}~${last.id}` } : {}),
  }
}

/** What the store indexes of a task. Reading it reads no log. */
export type TaskFacts = Pick<
  TaskRow,
  'id' | 'agent' | 'state' | 'createdAt' | 'statusAt' | 'dueAt' | 'held' | 'waits'
>

/** How many rows are read at once. */
const ROWS = 1_000

/** At most so many, the latest change first, in turns with other work of the event loop. */
export async function rows(
  { store }: Pick<EngineContext, 'store'>,
  caller: Caller,
  request: Omit<ListRequest, 'cursor' | 'limit'>,
  most: number,
): Promise<readonly TaskFacts[]> {
  const filter: TaskFilter = { ...defined(parse(listInput, request)), ...scopeOf(caller) }
  const found: TaskFacts[] = []
  for (;;) {
    const limit = Math.min(ROWS, most - found.length)
    const last = found.at(-1)
    const page = await store.list({ ...filter, limit, ...(last && { before: last }) })
    found.push(...page)
    if (page.length < limit || found.length >= most) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export type TaskCounts = Readonly<Partial<Record<State, number>>>

export async function count(
  { store }: Pick<EngineContext, 'store'>,
  caller: Caller,
  request: CountRequest = {},
): Promise<TaskCounts> {
  const given = parse(listInput, request)
  const filter: TaskFilter = { ...defined(given), ...scopeOf(caller) }
  const counted = await Promise.all(
    states.map(
      async (state) => [state, await store.count({ ...filter, states: [state] })] as const,
    ),
  )
  return Object.fromEntries(counted.filter(([, tasks]) => tasks > 0))
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Defined<T>
}

/** A cursor names a position in the order, not a row. It stays valid when tasks are created, change or are removed. */
function readCursor(cursor: string): { readonly statusAt: number; readonly id: string } {
  const found = /^([\d.e+]{1,32})~(.+)$/s.exec(cursor)
  const statusAt = Number(found?.[1])
  if (found?.[2] === undefined || !Number.isFinite(statusAt)) {
    throw new LullError('INVALID_INPUT', {
      path: 'cursor',
      problem: 'is not one of ours',
    })
  }
  return { statusAt, id: found[2] }
}

export async function subscribe(
  context: EngineContext,
  caller: Caller,
  taskId: string,
  options: { readonly after?: number; readonly signal?: Signal } = {},
): Promise<AsyncGenerator<LogRecord, void>> {
  const { after = 0, signal } = { ...options, ...parse(subscribeInput, options) }
  const task = await taskFor(context, caller, taskId, 'read')
  return context.subscriptions.open(taskId, positionIn(task, after), isTerminal(task.state), signal)
}

export async function follow(
  context: EngineContext,
  caller: Caller,
  taskId: string,
  after: number,
  shown: readonly TextPosition[],
): Promise<TaskReader> {
  const task = await taskFor(context, caller, taskId, 'read')
  return context.subscriptions.follow(task, positionIn(task, after), shown)
}

export async function webhooks(
  context: EngineContext,
  caller: Caller,
  taskId: string,
): Promise<readonly Push[]> {
  const { tenant, id } = await taskFor(context, caller, taskId, 'read')
  return context.store.pushes(tenant, id)
}

/** A position beyond the end of the log means the end of the log. */
function positionIn(task: Task, after: number): number {
  if (isUnreadable(task)) {
    const why = task.suspension?.summary ?? ''
    throw new LullError('TASK_UNREADABLE', { taskId: task.id, why })
  }
  return Math.min(after, task.version)
}
