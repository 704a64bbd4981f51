/**
 * Takes over a task from an export (`core/task-export.ts`). Nothing is written before everything was checked. An open task
 * arrives held: the server that exported it may still run it. It goes on when the hold is lifted.
 */

import { decide } from '../core/decide.ts'
import { LullError, toError } from '../core/errors.ts'
import { evolve, fold } from '../core/evolve.ts'
import { makeAnchor } from '../core/receipt-anchor.ts'
import { createReceipts } from '../core/receipts.ts'
import type { LogRecord, RecordBody } from '../core/records.ts'
import { isTerminal, type State } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import { checkExport, type TaskExport } from '../core/task-export.ts'
import { weightOf } from '../core/weight.ts'
import type { Commit } from '../ports/store/tasks.ts'
import { type Caller, maySee } from './caller.ts'
import { type EngineContext, mintHandle } from './context.ts'
import type { Holds } from './holds.ts'
import { rowOf } from './row.ts'

export interface ImportRequest extends TaskExport {
  /** Lifts the hold at once. */
  readonly start?: boolean | undefined
}

export interface ImportAnswer {
  readonly taskId: string
  readonly state: State
  readonly records: number
  /** Lifting it lets the task go on. Absent for a task that has ended, or that was started. */
  readonly holdId?: string
  /** Children of the task that are not in this store. It waits for them. */
  readonly missingChildren: readonly string[]
}

export async function importTask(
  context: EngineContext,
  holds: Pick<Holds, 'hold' | 'lift'>,
  caller: Caller,
  { start = false, ...exported }: ImportRequest,
): Promise<ImportAnswer> {
  const { store, quotas } = context
  const task = checked(context, caller, exported)
  const { id } = task
  if ((await store.row(id)) !== undefined) throw refused(`task ${id} exists here already`)
  await quotas.admit(task, { tasks: 1, bytes: weightOf(exported.records) })
  const missingChildren = await missing(context, task)
  const answer = { taskId: id, records: exported.records.length, missingChildren }
  if (isTerminal(task.state)) {
    await write(context, task, exported.records)
    return { ...answer, state: task.state }
  }
  const reason = 'imported; another server may still run it'
  const { holdId } = await holds.hold(caller, { scope: { taskIds: [id] }, reason })
  try {
    const eventsAfter = await store.lastEventPos()
    const arrival = arrive(context, caller, task, exported, { holdId, reason, eventsAfter })
    const records = [...exported.records, ...arrival.records]
    await write(context, arrival.task, records, { eventPos: eventsAfter })
  } catch (error) {
    await holds.lift(caller, holdId)
    throw error
  }
  if (start) await holds.lift(caller, holdId)
  const after = (await context.ledger.read(id)) ?? task
  return { ...answer, state: after.state, ...(start ? {} : { holdId }) }
}

/** The task of the file. @throws LullError `INVALID_INPUT` when it is not genuine, or not whole */
function checked({ signer }: EngineContext, caller: Caller, exported: TaskExport): Task {
  const { header, records } = exported
  if (header.redacted) throw refused('the file was redacted; export the task without redaction')
  const { faults } = checkExport(exported, signer.trusting(header.keys))
  // Receipts that have only an HMAC cannot be checked here. The signature of the header covers them.
  const fault = faults.find(({ seq, unknownKey }) => seq === 0 || unknownKey === undefined)
  if (fault !== undefined) throw refused(`the file is not genuine: ${fault.problem}`)
  const task = fold(records)
  if (task === undefined || !maySee(caller, task)) {
    throw refused('the task belongs to another tenant; import it as an operator of that tenant')
  }
  return task
}

async function missing({ store }: EngineContext, { children }: Task): Promise<readonly string[]> {
  const rows = await Promise.all(children.map((child) => store.row(child)))
  return children.filter((_, index) => rows[index] === undefined)
}

interface Arrival {
  readonly task: Task
  readonly records: readonly LogRecord[]
}

/** What is written behind the log of an open task: that it was imported, the hold, and their receipts. */
function arrive(
  { clock, ids, signer }: EngineContext,
  caller: Caller,
  start: Task,
  { header }: TaskExport,
  {
    holdId,
    reason,
    eventsAfter,
  }: Readonly<Record<'holdId' | 'reason', string>> & {
    readonly eventsAfter: number
  },
): Arrival {
  const at = clock.now()
  const receiptFor = createReceipts(signer)
  const records: LogRecord[] = []
  let task = start
  const append = (body: RecordBody): void => {
    const record = { ...body, seq: task.version + 1, at }
    task = evolve(task, record)
    records.push(record)
    const receipt = receiptFor(task, body, at)
    if (receipt !== undefined) append(receipt)
  }
  const actor = { kind: 'operator', id: caller.principal } as const
  const { exportedAt, lull, digest, keys } = header
  append({ type: 'imported', actor, exportedAt, lull, digest, keys, eventsAfter })
  const hold = { holdId, reason, actor }
  const command = { type: 'hold', hold, handle: mintHandle(ids), atBoundary: true } as const
  const decided = decide(task, command, at)
  if (decided.refusal !== undefined) throw toError(decided.refusal)
  for (const body of decided.records) append(body)
  return { task, records }
}

async function write(
  { store, signer }: EngineContext,
  task: Task,
  records: readonly LogRecord[],
  decidedOn: Pick<Commit, 'eventPos'> = {},
): Promise<void> {
  const anchor = task.receipts.count === 0 ? {} : { anchor: makeAnchor(task, signer) }
  const commit = { taskId: task.id, expected: 0, records, row: rowOf(task), snapshot: task }
  const [result] = await store.commit([{ ...commit, ...anchor, ...decidedOn }])
  if (result?.status === 'written') return
  if (result?.status === 'outdated') {
    throw new LullError('STORE_UNAVAILABLE', { why: 'another database server took over' })
  }
  if (result?.status === 'conflict') throw refused(`task ${task.id} exists here already`)
  throw refused('the records cannot be stored')
}

function refused(problem: string): LullError<'INVALID_INPUT'> {
  return new LullError('INVALID_INPUT', { path: '', problem })
}
