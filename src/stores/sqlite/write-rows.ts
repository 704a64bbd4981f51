/**
 * The rows of `tasks`. Every value that is bound costs time, be it NULL: a task that has ended when it is first written, as
 * most do that end at once, binds no more than it has. And where nobody asks what was written, statements are run by
 * `get`: `run` makes an object of it each time.
 */
import type { Draft, DraftRow } from './draft.ts'
import type { Database } from './driver.ts'
import { toText } from './text.ts'

export interface WriteRows {
  /** @param num the number it is given @throws when there is a task of that id (`isTaken`) */
  begin(draft: Draft, row: DraftRow, num: number): void
  change(draft: Draft, row: DraftRow, num: number): void
}

export function createWriteRows(db: Database): WriteRows {
  const insertPlain = db.prepare(
    `INSERT INTO tasks (num, id, tenant, principal, agent, context_id, created_at, state, status_at, held)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
  )
  const insert = db.prepare(
    `INSERT INTO tasks (num, id, tenant, principal, agent, context_id, created_at, parent_id,
                        state, status_at, ready_at, owner, due_at, held, waits)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // The columns left out never change: they are what the task was born with.
  const update = db.prepare(
    `UPDATE tasks SET state = ?, status_at = ?, ready_at = ?, owner = ?, due_at = ?, held = ?, waits = ?
     WHERE num = ?`,
  )

  return {
    begin(draft, row, num) {
      const born = [
        num,
        toText(draft.taskId),
        toText(row.tenant),
        toText(row.principal),
        toText(row.agent),
        toText(row.contextId),
        row.createdAt,
      ] as const
      if (isPlain(draft, row)) insertPlain.get(...born, row.state, row.statusAt)
      else insert.get(...born, textOrNull(row.parentId), ...changing(draft, row))
    },
    change(draft, row, num) {
      update.get(...changing(draft, row), num)
    },
  }
}

/** It has no parent, nobody runs it, and nothing of it is to come. */
function isPlain({ waits }: Draft, { parentId, readyAt, owner, dueAt, held }: DraftRow): boolean {
  return (
    parentId === undefined &&
    readyAt === undefined &&
    owner === undefined &&
    dueAt === undefined &&
    !held &&
    waits === null
  )
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
    textOrNull(row.owner),
    row.dueAt ?? null,
    row.held ? 1 : 0,
    waits,
  ]
}

function textOrNull(value: string | undefined): string | null {
  return value === undefined ? null : toText(value)
}
