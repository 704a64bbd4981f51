/**
 * Lists tasks in another order than the latest change first, which is the only order that stores have an index for.
 *
 *  S1  At most `MOST` rows are sorted, those that changed last, and only the tasks of one page are read. `total` still
 *      counts all that match.
 *  S2  The order is total: rows that are equal are sorted by id, so that no task is on two pages.
 */
import { LullError } from '../../core/errors.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ListRequest } from '../../engine/input/requests.ts'
import type { TaskOrder } from '../../wire/ops/tasks.ts'

type Facts = Awaited<ReturnType<Engine['rows']>>[number]
type Column = 'state' | 'agent' | 'created' | 'changed' | 'due'

const MOST = 20_000

const columns: Readonly<Record<Column, (row: Facts) => string | number>> = {
  state: ({ state }) => state,
  agent: ({ agent }) => agent,
  created: ({ createdAt }) => createdAt,
  changed: ({ statusAt }) => statusAt,
  // What never falls due comes last.
  due: ({ dueAt = Number.POSITIVE_INFINITY }) => dueAt,
}

export const taskOrders: readonly [TaskOrder, ...TaskOrder[]] = [
  'changed',
  'state',
  '-state',
  'agent',
  '-agent',
  'created',
  '-created',
  'due',
]

type Page = Awaited<ReturnType<Engine['list']>>

export async function listSorted(
  engine: Pick<Engine, 'rows' | 'get' | 'count'>,
  caller: Caller,
  order: TaskOrder,
  { cursor, limit = 50, ...filter }: ListRequest,
): Promise<Page> {
  const from = offsetIn(cursor)
  const rows = [...(await engine.rows(caller, filter, MOST))].sort(comparing(order))
  const { states: wanted, ...counted } = filter
  const counts = rows.length < MOST ? undefined : await engine.count(caller, counted)
  const total =
    counts === undefined
      ? rows.length
      : Object.entries(counts)
          .filter(([state]) => wanted?.some((one) => one === state) ?? true)
          .reduce((sum, [, count]) => sum + count, 0)
  const found = await Promise.all(
    // A task may be removed meanwhile.
    rows.slice(from, from + limit).map(({ id }) => engine.get(caller, id).catch(() => undefined)),
  )
  const next = from + limit
  return {
    tasks: found.filter((task) => task !== undefined),
    total,
    ...(next < rows.length ? { cursor: `${next}` } : {}),
  }
}

/** S2. */
function comparing(order: TaskOrder): (a: Facts, b: Facts) => number {
  const isDown = order.startsWith('-')
  const value = columns[(isDown ? order.slice(1) : order) as Column]
  const sign = isDown ? -1 : 1
  return (a, b) => sign * compare(value(a), value(b)) || compare(a.id, b.id)
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** @throws LullError `INVALID_INPUT` */
function offsetIn(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (!/^\d{1,6}$/.test(cursor)) {
    throw new LullError('INVALID_INPUT', { path: 'cursor', problem: 'is not one of ours' })
  }
  return Number(cursor)
}
