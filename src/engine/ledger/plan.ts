/** What is to be written to one task: commands decided one after the other, each on the state the ones before it made. */
import type { Command } from '../../core/commands.ts'
import { decide } from '../../core/decide.ts'
import { LullError, toError } from '../../core/errors.ts'
import { advance, evolve, type OwnTask } from '../../core/evolve.ts'
import type { MakePush, Push } from '../../core/push.ts'
import type { Signer } from '../../core/receipt.ts'
import { receiptFor } from '../../core/receipts.ts'
import type { LogRecord, RecordBody } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { Commit, TaskRow } from '../../ports/store/tasks.ts'
import { keepsRow, rowOf, sameRow } from '../row.ts'

/** Decided when its turn comes, so that it can look at the task it will act on. */
export type LazyCommand = Command | ((task: Task | undefined) => Command)

/** What is written together with a command's records, or not at all. */
export interface CommitExtras {
  readonly claim?: Claim | undefined
  readonly push?: MakePush | undefined
}

export interface Committed {
  readonly task: Task
  /** What this command wrote; empty when there was nothing to do. */
  readonly records: readonly LogRecord[]
  /** What came after it in the same commit, and the task that made. */
  readonly laterRecords: readonly LogRecord[]
  readonly latest: Task
  /** The idempotency key is somebody else's: nothing was written. */
  readonly claimed?: Claim
}

/** A command, who waits for it, and what it came to. */
export interface Waiting {
  readonly command: LazyCommand
  readonly birth: boolean
  readonly along: CommitExtras
  readonly resolve: (committed: Committed) => void
  readonly reject: (error: unknown) => void
  task: Task | undefined
  /** Its records within those of the plan. */
  from: number
  to: number
  /** Why it was refused; undefined when it was not. */
  refusal: unknown
}

/** A task in memory. */
export interface Cell {
  readonly id: string
  /** As it is in the store. */
  task: Task | undefined
  row: TaskRow | undefined
  snapshotSeq: number
  loading: Promise<void> | undefined
  loaded: boolean
  /** Commands that are not decided yet. */
  queue: Waiting[]
  /** What was decided before its turn and waits for it, and the turn in which it began. */
  ahead: Plan | undefined
  begunIn: number
  /** It has ended: nothing more can join what waits. */
  ripe: boolean
  /** It is listed as having something to write. */
  dirty: boolean
  writing: boolean
  /** Its birth is decided and not durable. */
  unborn: boolean
}

export interface Plan {
  readonly cell: Cell
  readonly waiting: Waiting[]
  readonly records: LogRecord[]
  task: Task | undefined
  row: TaskRow | undefined
  claim: Claim | undefined
  pushes: readonly Push[]
  /** Whether its commit carries one. */
  snapshot: boolean
}

/** Long logs get a snapshot this often; short ones are quicker to fold than to store twice. */
const SNAPSHOT_EVERY = 64
/** What ended is read more often than it is written. */
const SNAPSHOT_AT_END = 12
const none: readonly Push[] = []

export interface Planner {
  readonly begin: (cell: Cell) => Plan
  readonly add: (plan: Plan, one: Waiting) => void
  readonly commitOf: (plan: Plan) => Commit
}

export function createPlanner(clock: Clock, signer: Signer): Planner {
  function add(plan: Plan, one: Waiting): void {
    const { records, waiting } = plan
    waiting.push(one)
    one.from = records.length
    one.refusal = undefined
    const start = plan.task
    try {
      const task = apply(plan, one.command)
      if (records.length > one.from) carry(plan, one.along, task, start)
      one.task = plan.task = task
    } catch (error) {
      // All of a command's records hold, or none is written.
      records.length = one.from
      one.refusal = error
    }
    one.to = records.length
  }

  function apply({ cell, task: start, records }: Plan, lazy: LazyCommand): Task {
    const command = typeof lazy === 'function' ? lazy(start) : lazy
    const at = clock.now()
    const decided = decide(start, command, at)
    if (decided.refusal !== undefined) {
      const { refusal } = decided
      throw refusal.code === 'TASK_NOT_FOUND'
        ? new LullError('TASK_NOT_FOUND', { taskId: cell.id })
        : toError(refusal)
    }
    const bodies = decided.records
    let task: OwnTask | undefined
    for (const body of bodies) {
      task = append(records, task, start, body, at)
      const receipt = receiptFor(task, body, at, signer)
      if (receipt !== undefined) task = append(records, task, start, receipt, at)
    }
    if (task !== undefined) return task
    if (start === undefined) throw new LullError('TASK_NOT_FOUND', { taskId: cell.id })
    return start
  }

  return {
    begin: (cell) => ({
      cell,
      waiting: [],
      records: [],
      task: cell.task,
      row: cell.row,
      claim: undefined,
      pushes: none,
      snapshot: false,
    }),
    add,
    commitOf,
  }
}

function carry(
  plan: Plan,
  { claim, push }: CommitExtras,
  task: Task,
  start: Task | undefined,
): void {
  // First: it may throw, and then nothing of the command is written.
  if (push !== undefined) plan.pushes = [...plan.pushes, push(task, start)]
  plan.claim ??= claim
}

/** @param task what the command has made of `start` so far, which nobody has seen */
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

/** Not a copy: what was decided is nobody else's, and copies of so many shapes are dear. */
function numbered(body: RecordBody, seq: number, at: number): LogRecord {
  const record = body as RecordBody & { seq: number; at: number }
  record.seq = seq
  record.at = at
  return record
}

function commitOf(plan: Plan): Commit {
  const { cell, records, claim, pushes } = plan
  const task = plan.task as Task
  plan.row = rowAfter(cell, task)
  const changed = cell.row === undefined || !sameRow(cell.row, plan.row)
  const every = isTerminal(task.state) ? SNAPSHOT_AT_END : SNAPSHOT_EVERY
  plan.snapshot = task.version - cell.snapshotSeq >= every
  const commit: { -readonly [K in keyof Commit]: Commit[K] } = {
    taskId: cell.id,
    expected: cell.task?.version ?? 0,
    records,
  }
  if (changed) commit.row = plan.row
  if (plan.snapshot) commit.snapshot = task
  if (claim !== undefined) commit.claim = claim
  if (pushes.length > 0) commit.pushes = pushes
  return commit
}

function rowAfter({ task: before, row }: Cell, task: Task): TaskRow {
  return before !== undefined && row !== undefined && keepsRow(before, task) ? row : rowOf(task)
}
