/**
 * Reads an import. A file can be made by anybody, so each record is checked by the schema of its type before a function of
 * `core` sees it, and what the task would have is compared with the limits of its principal. Nothing is written before.
 */

import { LullError } from '../../../core/errors.ts'
import { fold } from '../../../core/evolve.ts'
import {
  checkExport,
  type ExportHeader,
  type TaskExport,
} from '../../../core/receipts/task-export.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { isPlainObject } from '../../../core/values/json.ts'
import { weightOf } from '../../../core/values/weight.ts'
import { type Caller, maySee } from '../../caller.ts'
import type { EngineContext } from '../../context.ts'
import { parse } from '../../input/parse.ts'
import { exportHeader, recordSchema } from '../../input/records.ts'
import { fireAt } from '../../wakes/fire-at.ts'
import { admitFilter } from '../filter-limit.ts'

export interface CheckedImport {
  readonly exported: TaskExport
  /** As the file has it. */
  readonly task: Task
}

/** Records checked between two turns of the event loop. */
const PAGE = 128
/** The result of a step can be this deep, and a record has some levels around it. */
const DEEPEST = 220

/** @throws LullError `INVALID_INPUT` with the path of the mistake, `LIMIT_EXCEEDED` */
export async function checkImport(
  context: EngineContext,
  caller: Caller,
  given: { readonly header: unknown; readonly records: unknown },
): Promise<CheckedImport> {
  const header = headerIn(given.header)
  if (header.redacted) throw refusal('the file was redacted; export the task without redaction')
  const records = await recordsIn(given.records, context.options.importBytes)
  await turn()
  const exported = { header, records }
  const { faults } = checkExport(exported, context.signer.trusting(header.keys))
  // Receipts that have only an HMAC cannot be checked here. The signature of the header covers them.
  const fault = faults.find(({ seq, unknownKey }) => seq === 0 || unknownKey === undefined)
  if (fault !== undefined) throw refusal(`the file is not genuine: ${fault.problem}`)
  const task = fold(records)
  if (task === undefined || !maySee(caller, task)) {
    throw refusal('the task belongs to another tenant; import it as an operator of that tenant')
  }
  await checkLimits(context, task)
  return { exported, task }
}

/** The header as it was given: its signature covers members that this version does not know. */
function headerIn(given: unknown): ExportHeader {
  if (isPlainObject(given) && 'version' in given && Number(given.version) > 1) {
    throw refusal(
      `the file has version ${given.version} of the format; use a newer version of Lull`,
    )
  }
  const problem = shapeProblem(given)
  if (problem !== undefined) throw refusal(problem, 'header')
  return Object.assign({}, given, parse(exportHeader, given, 'header'))
}

/** Parsing takes some milliseconds for a large record, so other work of the event loop runs in between. */
async function recordsIn(given: unknown, mostBytes: number): Promise<readonly LogRecord[]> {
  if (!Array.isArray(given)) throw refusal('must be a list of records', 'records')
  const items: readonly unknown[] = given
  const records: LogRecord[] = []
  let bytes = 0
  for (const [index, record] of items.entries()) {
    if (index % PAGE === 0) await turn()
    const path = `records.${index}`
    const problem = shapeProblem(record)
    if (problem !== undefined) throw refusal(problem, path)
    const { type, seq } = record as Partial<LogRecord>
    bytes += weightOf(record)
    if (bytes > mostBytes) {
      throw new LullError('LIMIT_EXCEEDED', { limit: 'importBytes', value: mostBytes })
    }
    parse(recordSchema(type), record, path)
    if (seq !== index + 1) throw refusal(`must be ${index + 1}`, `${path}.seq`)
    // The record as it was written: its digest and its receipts cover it.
    records.push(record as LogRecord)
  }
  return records
}

/** What a schema cannot bear, or would not see: deep nesting, and the name that sets a prototype. */
function shapeProblem(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'must be an object'
  const visit = (one: unknown, levels: number): string | undefined => {
    if (typeof one !== 'object' || one === null) return undefined
    if (levels === 0) return `is nested more than ${DEEPEST} deep`
    if (Object.hasOwn(one, '__proto__')) return 'has the name "__proto__"'
    for (const member of Object.values(one)) {
      const problem = visit(member, levels - 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return visit(value, DEEPEST)
}

/** What a task that was sent here could not have either. */
async function checkLimits(context: EngineContext, task: Task): Promise<void> {
  const { queuedMessages, queuedBytes, pendingReminders } = context.options
  const amounts = [
    ['queuedMessages', queuedMessages, task.queued.length],
    ['queuedBytes', queuedBytes, task.queued.length < 2 ? 0 : weightOf(task.queued)],
    ['pendingReminders', pendingReminders, task.reminders.length],
  ] as const
  for (const [limit, value, amount] of amounts) {
    if (amount > value) throw new LullError('LIMIT_EXCEEDED', { limit, value })
  }
  for (const stop of [task.pausing, task.suspension]) {
    fireAt(stop?.conditions, context.clock.now())
    await admitFilter(context, task, stop?.conditions)
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export function refusal(problem: string, path = ''): LullError<'INVALID_INPUT'> {
  return new LullError('INVALID_INPUT', { path, problem })
}
