/**
 * The one way to write. Commands queue per task; once per event-loop turn the ledger decides everything that queued,
 * hands one batch to the store (one fsync), folds, tells the listener, and only then answers.
 *
 * Invariants (ledger.test.ts):
 *  L1  a caller is answered after its records are durable, never before;
 *  L2  commands of one task are decided in the order they came, on the state the ones before them made;
 *  L3  a lost compare-and-set is decided again on the new state; nobody sees the state that lost;
 *  L4  when the store cannot write, every waiting caller gets the error and the in-memory task is what is on disk.
 */
import type { Command } from '../core/commands.ts'
import { decide } from '../core/decide.ts'
import { isLullError, LullError, toError } from '../core/errors.ts'
import { evolve, fold } from '../core/evolve.ts'
import type { MakePush, Push } from '../core/push.ts'
import type { Signer } from '../core/receipt.ts'
import { receiptFor } from '../core/receipts.ts'
import type { LogRecord, RecordBody } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Claim, Commit, CommitResult, TaskRow, TaskStore } from '../ports/task-store.ts'
import { keepsRow, rowOf, sameRow } from './row.ts'

/** Decided when its turn comes, so that it can look at the task it will act on. */
export type LazyCommand = Command | ((task: Task | undefined) => Command)

/** What is written together with a command's records, or not at all. */
export interface Along {
  readonly claim?: Claim | undefined
  readonly push?: MakePush | undefined
}

export interface Committed {
  readonly task: Task
  /** What this command wrote; empty when there was nothing to do. */
  readonly records: readonly LogRecord[]
  /** The idempotency key is somebody else's: nothing was written. */
  readonly claimed?: Claim
}

export interface Ledger {
  /** @throws LullError the refusal, or `STORE_UNAVAILABLE`; nothing was written then */
  commit(taskId: string, command: LazyCommand, along?: Along): Promise<Committed>
  /** The same for a task that does not exist yet: it is not looked up first. */
  create(taskId: string, command: LazyCommand, along?: Along): Promise<Committed>
  read(taskId: string): Promise<Task | undefined>
  /** The task if it is in memory. */
  peek(taskId: string): Task | undefined
  /** Forgets what ended: it may have been removed from the store. */
  forgetEnded(): void
  /** Resolves when everything handed in so far is settled. */
  idle(): Promise<void>
}

export interface LedgerDeps {
  readonly store: TaskStore
  readonly clock: Clock
  readonly signer: Signer
  readonly log: Log
  /** Called after each durable write, in log order per task, before its callers are answered. */
  readonly published: (task: Task, records: readonly LogRecord[], before: Task | undefined) => void
  /** How many tasks nobody is writing to are kept in memory for reading. */
  readonly cachedTasks: number
}

interface Waiting {
  readonly command: LazyCommand
  readonly birth: boolean
  readonly along: Along
  readonly resolve: (committed: Committed) => void
  readonly reject: (error: unknown) => void
}

interface Cell {
  readonly id: string
  task: Task | undefined
  row: TaskRow | undefined
  snapshotSeq: number
  loading: Promise<void> | undefined
  loaded: boolean
  queue: Waiting[]
  writing: boolean
}

interface Plan {
  readonly cell: Cell
  readonly commit: Commit | undefined
  readonly task: Task | undefined
  readonly row: TaskRow | undefined
  readonly waiting: readonly Waiting[]
  /** What to tell each of them once the commit is durable. */
  readonly settle: readonly (() => void)[]
}

/** A larger flush only adds latency: by then one fsync is shared by many. */
const FLUSH_LIMIT = 128
/** Long logs get a snapshot this often; short ones are quicker to fold than to store twice. */
const SNAPSHOT_EVERY = 64

export function createLedger(deps: LedgerDeps): Ledger {
  const { store, clock, signer, log, published, cachedTasks } = deps
  const cells = new Map<string, Cell>()
  const dirty = new Set<Cell>()
  let scheduled = false
  let active = 0
  let idlers: (() => void)[] = []

  function cellOf(taskId: string): Cell {
    const known = cells.get(taskId)
    if (known !== undefined) {
      // Most recently used last: the oldest idle ones are dropped first.
      cells.delete(taskId)
      cells.set(taskId, known)
      return known
    }
    const cell: Cell = {
      id: taskId,
      task: undefined,
      row: undefined,
      snapshotSeq: 0,
      loading: undefined,
      loaded: false,
      queue: [],
      writing: false,
    }
    // Before it is there, so that it is not the one to go when all others are busy.
    trim()
    cells.set(taskId, cell)
    return cell
  }

  function trim(): void {
    if (cells.size <= cachedTasks) return
    for (const cell of cells.values()) {
      if (cells.size <= cachedTasks) return
      if (isAtRest(cell)) cells.delete(cell.id)
    }
  }

  async function load(cell: Cell): Promise<void> {
    const stored = await store.load(cell.id)
    // Written meanwhile: what is in memory is newer than what was read.
    if (cell.loaded && cell.task !== undefined) return
    cell.task = stored && fold(stored.records, stored.snapshot)
    cell.row = cell.task && rowOf(cell.task)
    cell.snapshotSeq = stored?.snapshot?.version ?? 0
    cell.loaded = true
  }

  function ensureLoaded(cell: Cell): Promise<void> {
    cell.loading ??= load(cell).finally(() => {
      cell.loading = undefined
    })
    return cell.loading
  }

  function enqueue(
    taskId: string,
    command: LazyCommand,
    birth: boolean,
    along: Along = {},
  ): Promise<Committed> {
    const cell = cellOf(taskId)
    return new Promise((resolve, reject) => {
      cell.queue.push({ command, birth, along, resolve, reject })
      wake(cell)
    })
  }

  function wake(cell: Cell): void {
    if (cell.writing || cell.queue.length === 0) return
    // The store refuses to create what exists.
    if (!cell.loaded && cell.task === undefined && cell.queue[0]?.birth) cell.loaded = true
    if (cell.loaded) {
      dirty.add(cell)
      schedule()
      return
    }
    active++
    ensureLoaded(cell)
      .then(() => wake(cell))
      .catch((error: unknown) => rejectAll(cell.queue.splice(0), error))
      .finally(done)
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    active++
    setImmediate(() => {
      scheduled = false
      flush()
        .catch(() => undefined)
        .finally(done)
    })
  }

  function done(): void {
    active--
    if (active > 0) return
    const waiting = idlers
    idlers = []
    for (const resolve of waiting) resolve()
  }

  async function flush(): Promise<void> {
    const plans: Plan[] = []
    for (const cell of dirty) {
      if (plans.length >= FLUSH_LIMIT) break
      dirty.delete(cell)
      const made = plan(cell)
      if (made.commit === undefined) {
        for (const settle of made.settle) settle()
        wake(cell)
      } else {
        cell.writing = true
        plans.push(made)
      }
    }
    if (dirty.size > 0) schedule()
    if (plans.length === 0) return
    const commits = plans.flatMap((made) => made.commit ?? [])
    let results: readonly CommitResult[]
    try {
      results = await store.commit(commits)
    } catch (error) {
      for (const made of plans) lost(made, error)
      return
    }
    for (const [index, made] of plans.entries()) settle(made, results[index])
  }

  /** Decides everything that queued for one task. */
  function plan(cell: Cell): Plan {
    const waiting = cell.queue
    cell.queue = []
    const records: LogRecord[] = []
    const settle: (() => void)[] = []
    let task = cell.task
    let claim: Claim | undefined
    const pushes: Push[] = []
    for (const one of waiting) {
      try {
        const before = records.length
        const start = task
        const next = apply(cell.id, start, one.command, records)
        task = next
        if (records.length > before) {
          claim ??= one.along.claim
          if (one.along.push !== undefined) pushes.push(one.along.push(next, start))
        }
        const written = records.slice(before)
        settle.push(() => one.resolve({ task: next, records: written }))
      } catch (error) {
        settle.push(() => one.reject(error))
      }
    }
    if (task === undefined || records.length === 0) {
      return { cell, commit: undefined, task, row: cell.row, waiting, settle }
    }
    const row = rowAfter(cell, task)
    const changed = cell.row === undefined || !sameRow(cell.row, row)
    const snapshot = isTerminal(task.state) || task.version - cell.snapshotSeq >= SNAPSHOT_EVERY
    const commit: Commit = {
      taskId: cell.id,
      expected: cell.task?.version ?? 0,
      records,
      ...(changed ? { row } : {}),
      ...(snapshot ? { snapshot: task } : {}),
      ...(claim === undefined ? {} : { claim }),
      ...(pushes.length === 0 ? {} : { pushes }),
    }
    return { cell, commit, task, row, waiting, settle }
  }

  /** One command: its records and their receipts are appended to `records` only when all of them hold. */
  function apply(
    taskId: string,
    start: Task | undefined,
    lazy: LazyCommand,
    records: LogRecord[],
  ): Task {
    const command = typeof lazy === 'function' ? lazy(start) : lazy
    const at = clock.now()
    const decided = decide(start, command, at)
    if (decided.refusal !== undefined) {
      const { refusal } = decided
      throw refusal.code === 'TASK_NOT_FOUND'
        ? new LullError('TASK_NOT_FOUND', { taskId })
        : toError(refusal)
    }
    let task = start
    const fresh: LogRecord[] = []
    const append = (body: RecordBody): void => {
      const record = { ...body, seq: (task?.version ?? 0) + 1, at }
      task = evolve(task, record)
      fresh.push(record)
    }
    for (const body of decided.records) {
      append(body)
      const receipt = task && receiptFor(task, body, at, signer)
      if (receipt !== undefined) append(receipt)
    }
    if (task === undefined) throw new LullError('TASK_NOT_FOUND', { taskId })
    records.push(...fresh)
    return task
  }

  function settle(made: Plan, result: CommitResult | undefined): void {
    const { cell, commit, task } = made
    if (result?.status === 'conflict') {
      // Somebody else wrote: look again and decide again, in the same order.
      cell.queue.unshift(...made.waiting)
      cell.writing = false
      cell.loaded = false
      cell.task = undefined
      reload(cell)
      return
    }
    if (result?.status === 'claimed') {
      forget(cell)
      for (const one of made.waiting) {
        one.resolve({ task: task as Task, records: [], claimed: result.claim })
      }
      wake(cell)
      return
    }
    if (result?.status !== 'written' || commit === undefined || task === undefined) {
      const error = result?.status === 'failed' ? result.error : undefined
      lost(made, error ?? new Error('the store did not answer for this commit'))
      return
    }
    const before = cell.task
    cell.task = task
    cell.row = made.row
    if (commit.snapshot !== undefined) cell.snapshotSeq = task.version
    cell.writing = false
    try {
      published(task, commit.records, before)
    } catch (error) {
      // It is written, whatever became of who listens.
      log('error', 'a listener failed', { taskId: task.id, error })
    }
    for (const answer of made.settle) answer()
    wake(cell)
    trim()
  }

  function reload(cell: Cell): void {
    active++
    ensureLoaded(cell)
      .then(() => wake(cell))
      .catch((error: unknown) => rejectAll(cell.queue.splice(0), error))
      .finally(done)
  }

  /**
   * The write did not happen. What came behind it fails as well, or it would overtake what is tried again; and what the
   * store has is read before the next decision.
   */
  function lost({ cell, waiting }: Plan, error: unknown): void {
    forget(cell)
    rejectAll([...waiting, ...cell.queue.splice(0)], error)
  }

  function forget(cell: Cell): void {
    cell.writing = false
    cell.loaded = false
    cell.task = undefined
    cell.row = undefined
  }

  function rejectAll(waiting: readonly Waiting[], error: unknown): void {
    const reason = isLullError(error)
      ? error
      : new LullError('STORE_UNAVAILABLE', { why: errorText(error) }, { cause: error })
    for (const one of waiting) one.reject(reason)
  }

  /** Somebody creates it, without having looked: it may exist all the same. */
  async function beingCreated(cell: Cell): Promise<Task | undefined> {
    const stored = await store.load(cell.id)
    return cell.task ?? (stored && fold(stored.records, stored.snapshot))
  }

  async function read(taskId: string): Promise<Task | undefined> {
    const cell = cells.get(taskId)
    if (cell?.loaded) return cell.task ?? beingCreated(cell)
    const fresh = cellOf(taskId)
    await ensureLoaded(fresh)
    const { task } = fresh
    // What does not exist is not worth remembering: anybody can ask for anything.
    if (task === undefined && fresh.queue.length === 0) cells.delete(taskId)
    return task
  }

  return {
    commit: (taskId, command, along) => enqueue(taskId, command, false, along),
    create: (taskId, command, along) => enqueue(taskId, command, true, along),
    read,
    peek: (taskId) => cells.get(taskId)?.task,
    forgetEnded() {
      for (const { id, task } of [...cells.values()].filter(isAtRest)) {
        if (task !== undefined && isTerminal(task.state)) cells.delete(id)
      }
    },
    idle: () => (active === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  }
}

function rowAfter(cell: Cell, task: Task): TaskRow {
  const { task: before, row } = cell
  return before !== undefined && row !== undefined && keepsRow(before, task) ? row : rowOf(task)
}

function isAtRest({ queue, writing, loading }: Cell): boolean {
  return queue.length === 0 && !writing && loading === undefined
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
