/**
 * One commit, as statements. Writing a step is one look-up and one insert: the version of a task is the number of its
 * last record and nothing else, so there is no counter to bump. Runs inside a transaction that holds the write lock,
 * which is what makes comparing first and writing then one act.
 */

import type { Push } from '../../core/push.ts'
import type { State } from '../../core/states.ts'
import type { CommitResult, TaskRow } from '../../ports/task-store.ts'
import type { Claims, DraftClaim } from './claims.ts'
import type { Move } from './counts.ts'
import type { Database } from './driver.ts'
import type { Pushes } from './pushes.ts'
import { toText } from './text.ts'
import type { Waits } from './waits.ts'

/** The columns of a row without its waits, which are text in a draft. */
export type DraftRow = Omit<TaskRow, 'waits'>

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
    `SELECT num, state, waits, (SELECT max(seq) FROM records WHERE task = num) AS version
     FROM tasks WHERE id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO tasks (id, tenant, principal, agent, context_id, parent_id, created_at,
                        state, status_at, ready_at, owner, due_at, held, waits)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  )
  // The columns left out never change: they are what the task was born with.
  const update = db.prepare(
    `UPDATE tasks SET state = ?, status_at = ?, ready_at = ?, owner = ?, due_at = ?, held = ?, waits = ?
     WHERE num = ?`,
  )
  const writeLog = createWriteLog(db)

  function create(draft: Draft, row: DraftRow, moves: Move[]): CommitResult {
    const id = toText(draft.taskId)
    const { claim } = draft
    const holder = claim && claims.take(claim)
    if (holder !== undefined && holder.taskId !== draft.taskId) {
      return { status: 'claimed', claim: holder }
    }
    const tenant = toText(row.tenant)
    const { changes, lastInsertRowid } = insert.run(
      id,
      tenant,
      toText(row.principal),
      toText(row.agent),
      toText(row.contextId),
      row.parentId === undefined ? null : toText(row.parentId),
      row.createdAt,
      ...changing(draft, row),
    )
    if (Number(changes) === 0) {
      if (claim !== undefined && holder === undefined) claims.drop(claim)
      return { status: 'conflict', version: Number(find.get(id)?.['version'] ?? 0) }
    }
    waits.replace(tenant, id, null, draft.waits)
    writeLog(draft, Number(lastInsertRowid))
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
      update.run(...changing(draft, row), num)
      waits.replace(toText(row.tenant), id, found['waits'] as string | null, draft.waits)
      moves.push({ row, from: found['state'] as State })
    }
    writeLog(draft, num)
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

function createWriteLog(db: Database): (draft: Draft, num: number) => void {
  const append = db.prepare('INSERT INTO records (task, seq, body) VALUES (?, ?, ?)')
  const keep = db.prepare(
    `INSERT INTO snapshots (task, seq, body) VALUES (?, ?, ?)
     ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, body = excluded.body`,
  )
  return ({ version, records, snapshot }, num) => {
    append.run(num, version, records)
    if (snapshot !== undefined) keep.run(num, version, snapshot)
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
