/**
 * Takes over a task from an export (`core/receipts/task-export.ts`). Nothing is written before everything was checked. An open task
 * arrives held: the server that exported it may still run it. It goes on when the hold is lifted.
 *
 * I1  The ledger creates the task, so it is created under the holds on new tasks, as any other.
 * I2  The task is created once, however often and in however many processes the same file is imported. Its hold is durable
 *     before it exists.
 * I3  An import lifts only the hold that is its own.
 * I4  A repeat by the same operator is answered with what is there, and finishes what the first one has left.
 * I5  A task that retention has removed is not imported again, so no step of it is executed again.
 */
import { z } from 'zod'
import { isLullError } from '../../../core/errors.ts'
import { digestOf, type ExportHeader, type TaskExport } from '../../../core/receipts/task-export.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal, type State } from '../../../core/states.ts'
import type { Actor } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { weightOf } from '../../../core/values/weight.ts'
import { type Caller, maySee } from '../../caller.ts'
import { type EngineContext, mintHandle } from '../../context.ts'
import { markOf } from '../../holds/active-holds.ts'
import type { Holds } from '../../holds/holds.ts'
import type { PlacedHold } from '../../holds/place-hold.ts'
import { memberOf, parse } from '../../input/parse.ts'
import { logOf } from '../../ledger/log-of.ts'
import { childrenOf } from '../child-of.ts'
import type { OperatorVerb } from '../verb.ts'
import { checkImport, refusal } from './check-import.ts'

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

const record = z.looseObject({ type: z.string(), seq: z.number(), at: z.number() })
const key = z.looseObject({ kid: z.string(), x: z.string() })

/** What an embedding program gives: `checkImport` reads header and records. */
const frame = z.strictObject({
  header: z.unknown(),
  records: z.unknown(),
  start: z.boolean().optional(),
})

export const importVerb: OperatorVerb<'importTask'> = {
  capability: 'imports',
  scope: 'ops:control',
  // Only the shape of the file. `checkImport` reads the header and each record before anything is believed.
  input: frame.extend({
    header: z.looseObject({ taskId: z.string().max(256), keys: z.array(key), keyId: z.string() }),
    records: z.array(record),
  }) as z.ZodType<unknown> as z.ZodType<ImportRequest>,
  audited: {
    action: 'task.import',
    taskOf: (request) => memberOf(memberOf(request, 'header'), 'taskId'),
  },
  method:
    ({ context, holds }) =>
    (caller, request) =>
      importTask(context, holds, caller, request),
}

interface Importing {
  readonly context: EngineContext
  readonly holds: Pick<Holds, 'holdAhead' | 'isInEffect' | 'lift'>
  readonly caller: Caller
  readonly exported: TaskExport
  /** As the file has it. */
  readonly task: Task
}

async function importTask(
  context: EngineContext,
  holds: Importing['holds'],
  caller: Caller,
  request: ImportRequest,
): Promise<ImportAnswer> {
  const { start = false, header, records } = parse(frame, request)
  const { exported, task } = await checkImport(context, caller, { header, records })
  const importing = { context, holds, caller, exported, task }
  const holdId = await importedOnce(importing)
  const read = async (): Promise<Task> => (await context.ledger.read(task.id)) ?? task
  const isHeld = ({ holds: under }: Task): boolean => holdId !== undefined && under.includes(holdId)
  if (start && holdId !== undefined && isHeld(await read())) await holds.lift(caller, holdId)
  const after = await read()
  return {
    taskId: task.id,
    state: after.state,
    records: exported.records.length,
    ...(holdId !== undefined && isHeld(after) ? { holdId } : {}),
    missingChildren: await missing(context, task),
  }
}

/** The hold of the import. Undefined for a task that has ended. */
async function importedOnce(importing: Importing): Promise<string | undefined> {
  const { context, task, exported } = importing
  const known = await earlierImport(importing)
  if (known !== undefined) return known.holdId
  await context.quotas.admit(task, { tasks: 1, bytes: weightOf(exported.records) })
  if (isTerminal(task.state)) {
    if (await created(importing)) return undefined
    return (await existing(importing)).holdId
  }
  const { id } = task
  const reason = 'imported; another server may still run it'
  const placed = await importing.holds.holdAhead(importing.caller, {
    scope: { taskIds: [id] },
    reason,
  })
  return createdUnder(importing, placed)
}

/** The same import may have created the task meanwhile. Its hold is the same then. */
async function createdUnder(
  importing: Importing,
  { hold, isNew }: PlacedHold,
): Promise<string | undefined> {
  const { holds, caller } = importing
  try {
    if (await created(importing, hold)) return hold.id
    return (await existing(importing)).holdId
  } catch (error) {
    // After another error the task may exist, or may come to exist by a repeat. The hold stays for it.
    const isFinal = isLullError(error, 'INVALID_INPUT') || isLullError(error, 'RECORD_REFUSED')
    if (isNew && isFinal && holds.isInEffect(hold.id)) await holds.lift(caller, hold.id)
    throw error
  }
}

/** False when the task exists. */
async function created(
  { context, holds, caller, exported, task }: Importing,
  own?: PlacedHold['hold'],
): Promise<boolean> {
  const { ledger, events, ids } = context
  const { header, records: log } = exported
  const { id: taskId, tenant, agent, contextId } = task
  const { exportedAt, lull, digest, keys } = header
  await events.refresh(tenant)
  const { records } = await ledger.create(taskId, (holdsFor) => {
    if (own !== undefined && !holds.isInEffect(own.id)) throw refusal('its hold was lifted')
    const others = holdsFor({ taskId, tenant, agent, contextId })
    const mine = own === undefined ? {} : { holdId: own.id }
    const eventsAfter = events.lastPos(tenant)
    const actor = actorOf(caller)
    return {
      type: 'import',
      log,
      imported: { type: 'imported', actor, exportedAt, lull, digest, keys, eventsAfter, ...mine },
      handle: mintHandle(ids),
      holds: [
        ...(own === undefined ? [] : [markOf(own)]),
        ...others.filter(({ holdId }) => holdId !== own?.id),
      ],
    }
  })
  return records.length > 0
}

interface EarlierImport {
  readonly holdId: string | undefined
}

async function existing(importing: Importing): Promise<EarlierImport> {
  const known = await earlierImport(importing)
  if (known === undefined) throw refusal('the task was removed while it was imported')
  return known
}

/**
 * The same import by the same operator, if there was one.
 * @throws LullError `INVALID_INPUT` when the id belongs to another task, or to one that retention has removed
 */
async function earlierImport(importing: Importing): Promise<EarlierImport | undefined> {
  const { context, caller, task } = importing
  const { store } = context
  // No two tenants have a task of the same id, so all of them are asked.
  const owner = await store.tenantOf(task.id)
  const row = owner === undefined ? undefined : await store.row(owner, task.id)
  const removed = row === undefined ? await store.removedTask(task.tenant, task.id) : undefined
  const found = row ?? removed
  if (found === undefined) return undefined
  // The answer does not say what another tenant has.
  if (!maySee(caller, found)) throw refusal('a task of this id cannot be imported here')
  if (removed !== undefined)
    throw refusal(`task ${task.id} was here, and was removed after it ended`)
  const before = await sameImport(importing)
  if (before === undefined) throw refusal(`task ${task.id} exists here already`)
  return before
}

async function sameImport({
  context,
  caller,
  exported: { header },
  task,
}: Importing): Promise<EarlierImport | undefined> {
  if (isTerminal(task.state))
    return (await isStored(context, task, header)) ? { holdId: undefined } : undefined
  const [record] = await context.store.records(task.tenant, task.id, header.records, 1)
  if (record?.type !== 'imported' || record.digest !== header.digest) return undefined
  const { kind, id } = actorOf(caller)
  const isSame = record.actor.kind === kind && record.actor.id === id
  return isSame ? { holdId: record.holdId } : undefined
}

/** Whether the log of the task is that of the file. The log of an ended task does not say that it was imported. */
async function isStored(
  { store }: EngineContext,
  task: Task,
  { digest }: ExportHeader,
): Promise<boolean> {
  const log: LogRecord[] = []
  for await (const record of logOf(store, task)) log.push(record)
  return digestOf(log) === digest
}

async function missing(context: EngineContext, task: Task): Promise<readonly string[]> {
  const here = new Set((await childrenOf(context, task)).map(({ id }) => id))
  return task.children.filter((child) => !here.has(child))
}

function actorOf({ principal }: Caller): Actor {
  return { kind: 'operator', id: principal }
}
