/**
 * One commit, as statements. Writing a step is one look-up and one insert: the version of a task is the number of its
 * last record and nothing else, so there is no counter to bump. Runs inside a transaction that holds the write lock,
 * which is what makes comparing first and writing then one act.
 *
 * Where nobody asks what was written, statements are run by `get`: `run` makes an object of it each time.
 */

import type { Push } from '../../core/push.ts'
import type { State } from '../../core/states.ts'
import type { CommitResult, TaskRow } from '../../ports/task-store.ts'
import type { Claims, DraftClaim } from './claims.ts'
import type { Move } from './counts.ts'
import type { Database } from './driver.ts'
import { isTaken } from './failures.ts'
import type { Pushes } from './pushes.ts'
import { toText } from './text.ts'
import type { Waits } from './waits.ts'

/** The columns of a row without its waits, which are text in a draft. */
export interface DraftRow
  extends Omit<TaskRow, 'waits' | 'parentId' | 'readyAt' | 'owner' | 'dueAt'> {
  readonly parentId?: string | undefined
  readonly readyAt?: number | undefined
  readonly owner?: string | undefined
  readonly dueAt?: number | undefined
}

/** A commit as text. */
export interface Draft {
  readonly taskId: string
  readonly expected: number
  /** A JSON array, written as one row of the log. */
  readonly records: string
  /** The number of the last of them. */
  readonly version: number
  readonly row: DraftRow | undefined
  /** JSON, or null for none. */
  readonly waits: string | null
  readonly snapshot: string | undefined
  readonly claim: DraftClaim | undefined
  readonly pushes: readonly Push[]
}

/** What moved is noted for the totals, which follow once it is durable. */
export type Apply = (draft: Draft, moves: Move[]) => CommitResult

const written: CommitResult = { status: 'written' }

export function createApply(db: Database, claims: Claims, waits: Waits, pushes: Pushes): Apply {
  const find = db.prepare(
    `SELECT num, state, waits, coalesce(
       (SELECT max(seq) FROM records WHERE task = num),
       (SELECT seq FROM records WHERE pos = num AND task IS NULL)) AS version
     FROM tasks WHERE id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO tasks (num, id, tenant, principal, agent, context_id, parent_id, created_at,
                        state, status_at, ready_at, owner, due_at, held, waits)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // The columns left out never change: they are what the task was born with.
  const update = db.prepare(
    `UPDATE tasks SET state = ?, status_at = ?, ready_at = ?, owner = ?, due_at = ?, held = ?, waits = ?
     WHERE num = ?`,
  )
  const log = createWriteLog(db)

  function create(draft: Draft, row: DraftRow, moves: Move[]): CommitResult {
    const id = toText(draft.taskId)
    const { claim } = draft
    const holder = claim && claims.take(claim)
    if (holder !== undefined && holder.taskId !== draft.taskId) {
      return { status: 'claimed', claim: holder }
    }
    const tenant = toText(row.tenant)
    const num = log.next()
    try {
      insert.get(
        num,
        id,
        tenant,
        toText(row.principal),
        toText(row.agent),
        toText(row.contextId),
        row.parentId === undefined ? null : toText(row.parentId),
        row.createdAt,
        ...changing(draft, row),
      )
    } catch (error) {
      if (!isTaken(error)) throw error
      if (claim !== undefined && holder === undefined) claims.drop(claim)
      return { status: 'conflict', version: Number(find.get(id)?.['version'] ?? 0) }
    }
    waits.replace(tenant, id, null, draft.waits)
    log.begin(draft, num)
    moves.push({ row, from: undefined })
    return written
  }

  function extend(draft: Draft, moves: Move[]): CommitResult {
    const { expected, row } = draft
    const id = toText(draft.taskId)
    const found = find.get(id)
    const version = Number(found?.['version'] ?? 0)
    if (found === undefined || version !== expected) return { status: 'conflict', version }
    const num = Number(found['num'])
    if (row !== undefined) {
      update.get(...changing(draft, row), num)
      waits.replace(toText(row.tenant), id, found['waits'] as string | null, draft.waits)
      moves.push({ row, from: found['state'] as State })
    }
    log.append(draft, num)
    return written
  }

  return (draft, moves) => {
    const { expected, row } = draft
    const result =
      expected === 0 && row !== undefined ? create(draft, row, moves) : extend(draft, moves)
    if (result === written) for (const push of draft.pushes) pushes.put(push)
    return result
  }
}

interface WriteLog {
  /** The position of the next row, and the number of a task that begins there. */
  next(): number
  begin(draft: Draft, num: number): void
  append(draft: Draft, num: number): void
}

function createWriteLog(db: Database): WriteLog {
  const lastPos = db.prepare('SELECT max(pos) AS n FROM records')
  const lastNum = db.prepare('SELECT max(num) AS n FROM tasks')
  const insert = db.prepare('INSERT INTO records (pos, task, seq, body) VALUES (?, ?, ?, ?)')
  const keep = db.prepare(
    `INSERT INTO snapshots (task, seq, body) VALUES (?, ?, ?)
     ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, body = excluded.body`,
  )
  let last: number | undefined

  /** Positions of what was rolled back stay empty. */
  function next(): number {
    last ??= Math.max(...[lastPos, lastNum].map((query) => Number(query.get()?.['n'] ?? 0)))
    return ++last
  }

  function write({ version, records, snapshot }: Draft, pos: number, task: number | null): void {
    insert.get(pos, task, version, records)
    if (snapshot !== undefined) keep.get(task ?? pos, version, snapshot)
  }

  return {
    next,
    begin: (draft, num) => write(draft, num, null),
    append: (draft, num) => write(draft, next(), num),
  }
}

type Changing = [
  state: string,
  statusAt: number,
  readyAt: number | null,
  owner: string | null,
  dueAt: number | null,
  held: number,
  waits: string | null,
]

/** The columns that change, in the order both statements name them. */
function changing({ waits }: Draft, row: DraftRow): Changing {
  return [
    row.state,
    row.statusAt,
    row.readyAt ?? null,
    row.owner === undefined ? null : toText(row.owner),
    row.dueAt ?? null,
    row.held ? 1 : 0,
    waits,
  ]
}
