/**
 * `GET /ops/tasks/{id}/log`: everything that is stored of a task. The first page has the task and the first records, the
 * others have further records.
 *
 * Also `GET /ops/tasks/{id}/export` and `POST /ops/imports`.
 *
 * L1  All pages show the task at the version of the first page. Records that are written later are on none of them.
 * L2  A page has at most `limit` records, and about `PAGE_BYTES` of them. It has at least one.
 */

import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import { weightOf } from '../../core/values/weight.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import { count, flag, fromVerb, type OpsRoute, readsTasks, route } from './route.ts'

const MOST = 1_000
const PAGE_BYTES = 4_194_304

const query = z.strictObject({
  cursor: z.string().optional(),
  limit: count,
  tenant: z.string().optional(),
})
const facts = z.record(z.string(), z.unknown())

export const showLog: OpsRoute = route('log', {
  ...readsTasks,
  about: 'Everything that is stored of a task, for `lull replay`, page by page',
  query,
  answer: z.object({
    /** First page. As the server shows it. Its fields are those of the log, which later versions may extend. */
    task: facts.optional(),
    /** First page. The columns that the store searches. */
    row: facts.optional(),
    records: z.array(facts),
    /** First page. What is wrong with the receipts of the whole log. */
    faults: z
      .array(z.object({ seq: z.number(), problem: z.string(), unknownKey: z.string().optional() }))
      .optional(),
    /** First page. What the task sees of its context. */
    past: z.object({ messages: z.array(facts), tasks: z.array(facts) }).optional(),
    /** Absent on the last page. */
    cursor: z.string().optional(),
  }),
  async handle(engine, caller, { id, query: { cursor, limit = MOST } }) {
    const most = Math.max(1, Math.min(limit, MOST))
    if (cursor !== undefined) return laterPage(engine, caller, id, placeIn(cursor), most)
    const { task, row, records, faults, past } = await engine.recorded(caller, id)
    return { task, row, faults, past, ...(await pageOf(records, most, task.version)) }
  },
})

/** The version that the pages show, and the last record of the page before. */
interface Place {
  readonly version: number
  readonly seq: number
}

/** @throws LullError `INVALID_INPUT` */
function placeIn(cursor: string): Place {
  const [, version, seq] = /^(\d{1,15})~(\d{1,15})$/.exec(cursor) ?? []
  if (version === undefined || seq === undefined) {
    throw new LullError('INVALID_INPUT', { path: 'cursor', problem: 'is not one of ours' })
  }
  return { version: Number(version), seq: Number(seq) }
}

async function laterPage(
  engine: Engine,
  caller: Caller,
  taskId: string,
  { version, seq }: Place,
  most: number,
): Promise<Page> {
  const task = await engine.get(caller, taskId)
  const records = await engine.storedRecords(caller, taskId, seq)
  return pageOf(records, most, Math.min(version, task.version))
}

interface Page {
  readonly records: readonly LogRecord[]
  readonly cursor?: string
}

/** Reads no further than the page. */
async function pageOf(
  log: Iterable<LogRecord> | AsyncIterable<LogRecord>,
  most: number,
  version: number,
): Promise<Page> {
  const records: LogRecord[] = []
  let bytes = 0
  for await (const record of log) {
    if (record.seq > version) break
    bytes += weightOf(record)
    const last = records.at(-1)
    if (last !== undefined && (records.length === most || bytes > PAGE_BYTES)) {
      return { records, cursor: `${version}~${last.seq}` }
    }
    records.push(record)
  }
  return { records }
}

/** `GET /ops/tasks/{id}/export` and `POST /ops/imports`. */
const members = z.record(z.string(), z.unknown())

/** A signed header, and the records of the log. */
const taskExport = z.object({ header: members, records: z.array(members) })

const exportQuery = z.strictObject({ redacted: flag, tenant: z.string().optional() })

export const showExport: OpsRoute = route('export', {
  ...readsTasks,
  about: 'The whole log of a task with a signed header, for a file that outsiders can verify',
  query: exportQuery,
  answer: taskExport,
  handle: (engine, caller, { id, query: { redacted } }) =>
    engine.exportTask(caller, { taskId: id, redacted }),
})

const importQuery = z.strictObject({
  /** As `start` of the body, for JSON Lines. */
  start: flag,
  tenant: z.string().optional(),
})

export const importTask: OpsRoute = route('import', {
  ...fromVerb(operatorVerbs.importTask),
  about:
    'Takes over a task from an export, as JSON or as JSON Lines, after checking it; an open task arrives held',
  query: importQuery,
  // As `lull export` writes it: the header, then one record per line.
  fromLines: ([header, ...records]) => ({ header, records }),
  answer: z.object({
    taskId: z.string(),
    state: z.string(),
    records: z.number(),
    /** Lifting it lets the task go on. */
    holdId: z.string().optional(),
    missingChildren: z.array(z.string()),
  }),
  async handle(engine, caller, { body, query }) {
    const { start: also } = query
    return engine.importTask(caller, body.start === undefined ? { ...body, start: also } : body)
  },
})
