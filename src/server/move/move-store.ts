/**
 * Moves everything in a data directory into a PostgreSQL database. Invariants (move-store.test.ts):
 *  V1  the database shows the data to other processes only after every log and every count was compared;
 *  V2  an interrupted move leaves nothing behind, and can be run again;
 *  V3  a finished move is not repeated: running it again changes nothing.
 */

import { createHash, type Hash } from 'node:crypto'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import { DONE_UNTIL } from '../../engine/upkeep/follow-ups.ts'
import { EVENT_CURSOR } from '../../engine/wakes/events/event-cursor.ts'
import {
  type MovedRow,
  type MovedTable,
  type MoveSource,
  type MoveTarget,
  movedTables,
} from '../../ports/store/moving.ts'
import { readPlace } from '../../stores/postgres/connection/connection.ts'
import { moveInto } from '../../stores/postgres/move/move-target.ts'
import { openMoveSource } from '../../stores/sqlite/move-source.ts'
import { createKeyFile } from '../auth/key-file.ts'
import { SHARED_KEYS, SHARED_KEYS_USED } from '../auth/shared-keys.ts'
import type { PostgresConfig } from '../store/open-store.ts'
import { readSecret, type SecretName, sharedSecretName } from '../system/secrets.ts'
import { type GivenKeys, signerFor } from '../system/signer.ts'
import { checkTask } from './check-task.ts'

export interface MoveOptions extends GivenKeys {
  /** The data directory. */
  readonly from: string
  readonly to: PostgresConfig
  readonly progress?: (progress: MoveProgress) => void
}

export interface MoveProgress {
  readonly phase: 'copying' | 'checking'
  readonly tasks: number
  readonly of: number
}

export interface MoveReport {
  readonly movedAt: string
  readonly tasks: number
  readonly records: number
  readonly receipts: number
  /** The number of rows in each of the other tables. */
  readonly rows: Readonly<Record<MovedTable, number>>
  /** Receipts that are not genuine, or signed with an unknown key. They were so before the move. */
  readonly receiptFaults: readonly { readonly taskId: string; readonly problem: string }[]
  /** Tasks with a damaged log. It was damaged before the move. */
  readonly unreadableTasks: readonly string[]
}

export interface Moved {
  readonly report: MoveReport
  /** Set if an earlier run has moved the same data. Then this run has changed nothing. */
  readonly isRepeat: boolean
}

/** @throws LullError `STORE_LOCKED` or `STORE_UNAVAILABLE`, with a sentence an operator can act on */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  // Invalid addresses are refused before anything is opened.
  readPlace(options.to.url, 'postgres')
  const source = await openMoveSource(options.from)
  try {
    return await moveInto(options.to, (target) =>
      target.earlier === undefined
        ? bring(source, target, options)
        : repeat(source, parseNote(target.earlier)),
    )
  } finally {
    source.close()
  }
}

interface Note {
  readonly digest: string
  readonly report: MoveReport
}

async function bring(source: MoveSource, target: MoveTarget, options: MoveOptions): Promise<Moved> {
  const digest = createHash('sha256')
  const rows = await copy(source, target, options, digest)
  const { tasks, ...checked } = await check(source, target, options)
  const movedAt = new Date().toISOString()
  const report: MoveReport = { movedAt, tasks, rows, ...checked }
  for (const table of tables) {
    const found = await target.count(table)
    if (found !== rows[table]) {
      throw refused(
        `${table} has ${found} rows there, and ${rows[table]} here; run the command again`,
      )
    }
  }
  await target.finish({
    lastEventPos: source.lastEventPos,
    toldUpTo: Number(source.value(EVENT_CURSOR) ?? 0),
    doneUntil: Number(source.value(DONE_UNTIL) ?? 0),
    note: JSON.stringify({ digest: digest.digest('hex'), report } satisfies Note),
  })
  return { report, isRepeat: false }
}

const tables = Object.keys(movedTables) as readonly MovedTable[]

async function copy(
  source: MoveSource,
  target: MoveTarget,
  { from, progress }: MoveOptions,
  digest: Hash,
): Promise<Readonly<Record<MovedTable, number>>> {
  let done = 0
  for (const page of source.tasks()) {
    await target.addTasks(page)
    digest.update(JSON.stringify(page))
    done += page.length
    progress?.({ phase: 'copying', tasks: done, of: source.taskCount })
  }
  const counts = Object.fromEntries(tables.map((table) => [table, 0])) as Record<MovedTable, number>
  for (const table of tables) {
    for (const page of source.rows(table)) {
      await target.add(table, page)
      digest.update(JSON.stringify(page))
      counts[table] += page.length
    }
  }
  const secrets = await secretRows(from)
  await target.add('key_values', secrets)
  counts.key_values += secrets.length
  return counts
}

type Checked = Pick<
  MoveReport,
  'tasks' | 'records' | 'receipts' | 'receiptFaults' | 'unreadableTasks'
>

/**
 * Reads every task back.
 * @throws LullError if one differs
 */
async function check(
  source: MoveSource,
  target: MoveTarget,
  { from, progress, ...given }: MoveOptions,
): Promise<Checked> {
  const signer = await signerFor({ data: from }, given)
  const sum = { tasks: 0, records: 0, receipts: 0 }
  const receiptFaults: MoveReport['receiptFaults'][number][] = []
  const unreadableTasks: string[] = []
  for (const page of source.tasks()) {
    const found = await target.read(page.map(({ row }) => row.id))
    for (const [n, task] of page.entries()) {
      const taskId = task.row.id
      const checked = checkTask(task, found[n], signer)
      if (checked.difference !== undefined) {
        throw refused(`task ${taskId} ${checked.difference} in the database; nothing was moved`)
      }
      sum.records += checked.records
      sum.receipts += checked.receipts
      receiptFaults.push(...checked.faults.map(({ problem }) => ({ taskId, problem })))
      if (checked.isUnreadable) unreadableTasks.push(taskId)
    }
    sum.tasks += page.length
    progress?.({ phase: 'checking', tasks: sum.tasks, of: source.taskCount })
  }
  return { ...sum, receiptFaults, unreadableTasks }
}

/**
 * Handles a repeated move.
 * @throws LullError if the data differ from those that were moved
 */
async function repeat(source: MoveSource, { digest, report }: Note): Promise<Moved> {
  const here = createHash('sha256')
  for (const page of source.tasks()) here.update(JSON.stringify(page))
  for (const table of tables) {
    for (const page of source.rows(table)) here.update(JSON.stringify(page))
  }
  if (here.digest('hex') === digest) return { report, isRepeat: true }
  throw refused(
    `the database has what was moved there at ${report.movedAt}, and this directory has something else; ` +
      'choose another schema (LULL_POSTGRES_SCHEMA)',
  )
}

function parseNote(text: string): Note {
  return JSON.parse(text) as Note
}

function refused(why: string): LullError<'STORE_UNAVAILABLE'> {
  return new LullError('STORE_UNAVAILABLE', { why })
}

const names: readonly SecretName[] = ['receipt.key', 'push.key']

/**
 * Reads what a data directory has beside its database: signing keys and API keys. A shared store
 * has them as values.
 *
 * The secrets as rows of the table `key_values`.
 */
async function secretRows(data: string): Promise<readonly MovedRow[]> {
  const secrets = names.flatMap((name) => {
    const secret = readSecret(join(data, name))
    return secret === undefined ? [] : [row(sharedSecretName(name), secret.toString('base64'))]
  })
  const keys = createKeyFile(data)
  const list = await keys.list()
  if (list.length === 0) return secrets
  return [...secrets, row(SHARED_KEYS, list), row(SHARED_KEYS_USED, await keys.lastUsed())]
}

function row(name: string, value: unknown): MovedRow {
  return [name, JSON.stringify(value)]
}
