/** Decides the commands to one task in order, each on the result of the previous one, and plans one commit for them. */
import type { Command } from '../../core/commands.ts'
import { decide } from '../../core/decide.ts'
import { LullError, toError } from '../../core/errors.ts'
import { advance, evolve, type OwnTask } from '../../core/evolve.ts'
import type { MakePush, Push } from '../../core/push.ts'
import type { Signer } from '../../core/receipts/receipt.ts'
import { makeAnchor } from '../../core/receipts/receipt-anchor.ts'
import { createReceipts } from '../../core/receipts/receipts.ts'
import type { LogRecord, RecordBody } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { weightOf } from '../../core/values/weight.ts'
import { newestEventNamed } from '../../core/waiting/conditions.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { Commit, TaskRow } from '../../ports/store/tasks.ts'
import type { CommandSpans, RecordTracing } from '../observe/trace-records.ts'
import type { SpendingOf } from '../policies/policies.ts'
import { keepsRow, rowOf, sameRow } from './row.ts'
import type { TaskEntry } from './task-entry.ts'

/** A function is called when the command is decided, with the current task. */
export type LazyCommand = Command | ((task: Task | undefined) => Command)

/** Data that is written in the same commit as the records of a command, or not at all. */
export interface CommitExtras {
  readonly claim?: Claim | undefined
  readonly push?: MakePush | undefined
  /** Approximate bytes of the command, counted while it waits for the store (`ledger.ts`). */
  readonly bytes?: number
}

export interface Committed {
  readonly task: Task
  /** The records of this command. Empty when there was nothing to do. */
  readonly records: readonly LogRecord[]
  /** Records of later commands in the same commit, and the task after all of them. */
  readonly laterRecords: readonly LogRecord[]
  readonly latest: Task
  /** Another task has the idempotency key. Nothing was written. */
  readonly claimed?: Claim
}

/** A command whose caller waits, with its decision. */
export interface Waiting {
  readonly command: LazyCommand
  /** Whether the command creates the task. */
  readonly creates: boolean
  readonly extras: CommitExtras
  /** Absent while tracing is off. */
  readonly spans: CommandSpans | undefined
  readonly resolve: (committed: Committed) => void
  readonly reject: (error: unknown) => void
  task: Task | undefined
  /** The range of its records within those of the plan. */
  from: number
  to: number
  /** The refusal of the command, or undefined. */
  refusal: unknown
  /**
   * Whether the command must have a commit of its own: it claims a key, or a commit that it shared
   * could not be stored.
   */
  alone: boolean
}

export function createWaiting(
  command: LazyCommand,
  creates: boolean,
  extras: CommitExtras,
  { resolve, reject, spans }: Pick<Waiting, 'resolve' | 'reject' | 'spans'>,
): Waiting {
  return {
    command,
    creates,
    extras,
    spans,
    resolve: spans === undefined ? resolve : whenWritten(spans, resolve),
    reject,
    task: undefined,
    from: 0,
    to: 0,
    refusal: undefined,
    alone: !creates && extras.claim !== undefined,
  }
}

function whenWritten(spans: CommandSpans, resolve: Waiting['resolve']): Waiting['resolve'] {
  return (committed) => {
    for (const span of spans.open) span.end()
    resolve(committed)
  }
}

/** The content of one commit to one task. */
export interface Plan {
  readonly entry: TaskEntry
  readonly waiting: Waiting[]
  readonly records: LogRecord[]
  task: Task | undefined
  row: TaskRow | undefined
  claim: Claim | undefined
  pushes: readonly Push[]
  /** Whether the commit contains a snapshot. */
  snapshot: boolean
  /** Approximate bytes of the records. */
  bytes: number
  /**
   * Whether the log begins with records of another task or store. Their usage was counted there,
   * and is not counted again.
   */
  copied: boolean
  /** Called when the commit is settled, whether it was written or not. */
  whenSettled: (() => void)[]
}

/** The number of records between two snapshots. Folding a shorter log is faster than storing a snapshot of it. */
const SNAPSHOT_EVERY = 64
/** The same for an ended task: it is read, but never written again, so a shorter interval pays. */
const SNAPSHOT_AT_END = 12
const none: readonly Push[] = []

export interface Planner {
  readonly begin: (entry: TaskEntry) => Plan
  readonly add: (plan: Plan, one: Waiting) => void
  readonly commitOf: (plan: Plan) => Commit
}

export interface PlannerDeps {
  readonly clock: Clock
  readonly signer: Signer
  readonly traces: RecordTracing
  /** The hold epoch on which a create is decided. Present in a shared store. */
  readonly holdEpoch?: (() => number) | undefined
  readonly spendingOf?: SpendingOf
}

export function createPlanner(deps: PlannerDeps): Planner {
  const { clock, signer, traces, holdEpoch, spendingOf } = deps
  const receiptFor = createReceipts(signer)

  function add(plan: Plan, one: Waiting): void {
    const { records, waiting } = plan
    waiting.push(one)
    one.from = records.length
    one.refusal = undefined
    const start = plan.task
    try {
      const task = apply(plan, one)
      if (records.length > one.from) addExtras(plan, one.extras, task, start)
      one.task = plan.task = task
      for (let index = one.from; index < records.length; index++) {
        plan.bytes += weightOf(records[index])
      }
    } catch (error) {
      // Either all records of a command are written, or none.
      records.length = one.from
      one.refusal = error
    }
    one.to = records.length
  }

  function apply(plan: Plan, { command: lazy, spans }: Waiting): Task {
    const { entry, task: start, records } = plan
    const command = typeof lazy === 'function' ? lazy(start) : lazy
    const at = clock.now()
    const decided = decide(start, command, at)
    if (decided.refusal !== undefined) {
      const { refusal } = decided
      throw refusal.code === 'TASK_NOT_FOUND'
        ? new LullError('TASK_NOT_FOUND', { taskId: entry.id })
        : toError(refusal)
    }
    const bodies = decided.records
    let task: OwnTask | undefined
    if (decided.copied !== undefined) plan.copied = true
    for (const record of decided.copied ?? []) {
      task = task === undefined ? evolve(start, record) : advance(task, record)
      records.push(record)
    }
    // A command that is decided again discards the spans of its first decision (T4 in
    // `trace-records.ts`).
    if (spans !== undefined) spans.open = []
    for (const decidedBody of bodies) {
      const body =
        spans === undefined ? decidedBody : traces.stamp(decidedBody, task ?? start, spans, at)
      task = append(records, task, start, body, at)
      const receipt = receiptFor(task, body, at)
      if (receipt !== undefined) task = append(records, task, start, receipt, at)
    }
    if (task !== undefined) return task
    if (start === undefined) throw new LullError('TASK_NOT_FOUND', { taskId: entry.id })
    return start
  }

  return {
    begin: (entry) => ({
      entry,
      waiting: [],
      records: [],
      task: entry.task,
      row: entry.row,
      claim: undefined,
      pushes: none,
      snapshot: false,
      bytes: 0,
      copied: false,
      whenSettled: [],
    }),
    add,
    commitOf(plan) {
      const commit = commitOf(plan, signer, spendingOf)
      return holdEpoch === undefined ? commit : { ...commit, ...decidedOn(plan, holdEpoch) }
    },
  }
}

/**
 * What a shared store must still have when it writes the decision: the hold epoch, and the events
 * that the task newly refers to.
 */
function decidedOn(plan: Plan, holdEpoch: () => number): Pick<Commit, 'holdEpoch' | 'eventPos'> {
  const { entry, task } = plan
  const eventPos = namesEventsHere(plan) ? newestEventNamed(task) : 0
  return {
    ...(entry.task === undefined ? { holdEpoch: holdEpoch() } : {}),
    ...(eventPos > newestEventNamed(entry.task) ? { eventPos } : {}),
  }
}

/**
 * Event positions in the log of an imported task that has ended belong to the other store, and so
 * may those in the past of a fork. The store must not check them: it may never have given so high
 * positions.
 */
function namesEventsHere({ copied, records, task }: Plan): boolean {
  if (!copied) return true
  const begun = records.findLast(({ type }) => type === 'imported' || type === 'forked')
  return begun?.type === 'imported' && task !== undefined && !isTerminal(task.state)
}

function addExtras(
  plan: Plan,
  { claim, push }: CommitExtras,
  task: Task,
  start: Task | undefined,
): void {
  // Called before the plan changes, so that nothing of the command is written if `push` throws.
  if (push !== undefined) plan.pushes = [...plan.pushes, push(task, start)]
  plan.claim ??= claim
}

/**
 * @param task the result of the command so far; no other code has a reference, so it may be changed
 * in place
 */
function append(
  records: LogRecord[],
  task: OwnTask | undefined,
  start: Task | undefined,
  body: RecordBody,
  at: number,
): OwnTask {
  const record = numbered(body, ((task ?? start)?.version ?? 0) + 1, at)
  const next = task === undefined ? evolve(start, record) : advance(task, record)
  records.push(record)
  return next
}

/**
 * Adds number and instant in place: `decide` has just made the body, and no other code has a
 * reference.
 */
function numbered(body: RecordBody, seq: number, at: number): LogRecord {
  const record = body as RecordBody & { seq: number; at: number }
  record.seq = seq
  record.at = at
  return record
}

function commitOf(plan: Plan, signer: Signer, spendingOf?: SpendingOf): Commit {
  const { entry, records, claim, pushes } = plan
  const task = plan.task as Task
  plan.row = rowAfter(entry, task)
  const changed = entry.row === undefined || !sameRow(entry.row, plan.row)
  const every = isTerminal(task.state) ? SNAPSHOT_AT_END : SNAPSHOT_EVERY
  plan.snapshot = task.version - entry.snapshotSeq >= every
  const commit: { -readonly [K in keyof Commit]: Commit[K] } = {
    tenant: task.tenant,
    taskId: entry.id,
    expected: entry.task?.version ?? 0,
    records,
  }
  if (changed) commit.row = plan.row
  if (plan.snapshot) commit.snapshot = task
  // Most commits make no receipt, and then no anchor has to be signed.
  if (task.receipts.count > (entry.task?.receipts.count ?? 0)) {
    commit.anchor = makeAnchor(task, signer)
  }
  if (claim !== undefined) commit.claim = claim
  if (pushes.length > 0) commit.pushes = pushes
  const spending = plan.copied ? undefined : spendingOf?.(entry.task, records, task)
  if (spending !== undefined) commit.spending = spending
  return commit
}

function rowAfter({ task: before, row }: TaskEntry, task: Task): TaskRow {
  return before !== undefined && row !== undefined && keepsRow(before, task) ? row : rowOf(task)
}
