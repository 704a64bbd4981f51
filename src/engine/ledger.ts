/**
 * The one way to write. Commands queue per task; once per event-loop turn the ledger decides everything that queued,
 * hands one batch to the store (one fsync), folds, tells the listener, and only then answers.
 *
 *   commit ──▶ queue ──turn──▶ decide ──▶ store ──▶ published ──▶ answer
 *   create, ahead ──▶ decide ──▶ begun ──┘ (what it asks for within a turn of the loop joins the same commit; once it has
 *                                          ended nothing can follow, and it is written as soon as the store is free)
 *
 * Invariants (ledger.test.ts):
 *  L1  a caller is answered after its records are durable, never before;
 *  L2  commands of one task are decided in the order they came, on the state the ones before them made;
 *  L3  a lost compare-and-set is decided again on the new state; nobody sees the state that lost;
 *  L4  when the store cannot write, every waiting caller gets the error and the in-memory task is what is on disk;
 *  L5  who is told of a task ahead of its commit lets nothing of it leave the process before it is published.
 */
import { LullError } from '../core/errors.ts'
import { fold } from '../core/evolve.ts'
import type { Signer } from '../core/receipt.ts'
import type { LogRecord } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { CommitResult, TaskStore } from '../ports/store/tasks.ts'
import { answer, rejectAll, unchanged } from './ledger/answers.ts'
import { createBirths } from './ledger/births.ts'
import { createCells, isAtRest } from './ledger/cells.ts'
import {
  type Cell,
  type CommitExtras,
  type Committed,
  createPlanner,
  type LazyCommand,
  type Plan,
  type Waiting,
} from './ledger/plan.ts'
import { rowOf } from './row.ts'

export type { CommitExtras, Committed, LazyCommand } from './ledger/plan.ts'

export interface Ledger {
  /** @throws LullError the refusal, or `STORE_UNAVAILABLE`; nothing was written then */
  commit(taskId: string, command: LazyCommand, along?: CommitExtras): Promise<Committed>
  /**
   * The same for a task that does not exist yet: it is not looked up first. With `begun` it is decided at once and
   * shown as it will be, so that what follows shares its commit (L5).
   */
  create(
    taskId: string,
    command: LazyCommand,
    along?: CommitExtras,
    begun?: (task: Task) => void,
  ): Promise<Committed>
  read(taskId: string): Promise<Task | undefined>
  /** The task if it is in memory. */
  peek(taskId: string): Task | undefined
  /** Forgets what ended: it may have been removed from the store. */
  forgetEnded(): void
  /** Resolves when every task whose birth was decided so far can be read, or will never be. */
  createsSettled(): Promise<void>
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

/** A larger flush only adds latency: by then one fsync is shared by many. */
const FLUSH_LIMIT = 128
/** One batch that is being written, and others for the store to take next, together where it can. */
const IN_FLIGHT = 8
const nothing: CommitExtras = {}

export function createLedger(deps: LedgerDeps): Ledger {
  const { store, clock, signer, log, published } = deps
  const cells = createCells(deps.cachedTasks)
  const planner = createPlanner(clock, signer)
  const births = createBirths()
  /** What has something to write, each once. Not a set: see `TransientMap`. */
  let dirty: Cell[] = []
  /** How many of them have ended, so that nothing more can join their commit. */
  let ripe = 0
  /** Numbers the turns of the loop. What began ahead in one gets one more, to say what else it wants to write. */
  let turn = 1
  let scheduled = false
  let loads = 0
  let flights = 0
  /** How many tasks are in them. */
  let aboard = 0
  let idlers: (() => void)[] = []

  async function load(cell: Cell): Promise<void> {
    const stored = await store.load(cell.id)
    // Written meanwhile: what is in memory is newer than what was read.
    if (cell.loaded && (cell.task !== undefined || cell.writing)) return
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
    along: CommitExtras = nothing,
    begun?: (task: Task) => void,
  ): Promise<Committed> {
    const cell = cells.of(taskId)
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        command,
        birth,
        along,
        resolve,
        reject,
        task: undefined,
        from: 0,
        to: 0,
        refusal: undefined,
      }
      if (begun !== undefined && isNew(cell)) begin(cell, one, begun)
      else if (cell.ahead !== undefined) join(cell, cell.ahead, one)
      else cell.queue.push(one)
      wake(cell)
    })
  }

  function begin(cell: Cell, one: Waiting, begun: (task: Task) => void): void {
    const plan = planner.begin(cell)
    cell.loaded = true
    cell.ahead = plan
    planner.add(plan, one)
    if (plan.task === undefined || plan.records.length === 0) return
    cell.unborn = true
    cell.begunIn = turn
    wake(cell)
    begun(plan.task)
  }

  /** Nothing was decided behind its back: it need not wait for its turn. */
  function join(cell: Cell, plan: Plan, one: Waiting): void {
    planner.add(plan, one)
    if (cell.ripe || plan.task === undefined || !isTerminal(plan.task.state)) return
    cell.ripe = true
    ripe++
    writeRipe()
  }

  function wake(cell: Cell): void {
    if (cell.writing || (cell.queue.length === 0 && cell.ahead === undefined)) return
    // The store refuses to create what exists.
    if (!cell.loaded && cell.task === undefined && cell.queue[0]?.birth) cell.loaded = true
    if (!cell.loaded) {
      reload(cell)
      return
    }
    if (!cell.dirty) dirty.push(cell)
    cell.dirty = true
    schedule()
  }

  function reload(cell: Cell): void {
    loads++
    ensureLoaded(cell)
      .then(() => wake(cell))
      .catch((error: unknown) => rejectAll(cell.queue.splice(0), error))
      .finally(() => {
        loads--
        rest()
      })
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    scheduled = false
    const ended = turn++
    while (flights < IN_FLIGHT) {
      const plans = nextPlans((cell) => cell.begunIn === ended && !cell.ripe)
      if (plans.length === 0) break
      write(plans).catch(() => undefined)
    }
    // Otherwise a batch that comes back brings the next one.
    if (dirty.length > 0 && flights < IN_FLIGHT) schedule()
    rest()
  }

  /**
   * At once when the store has nothing to do, else as soon as it is worth as much as what it has: the more there is to
   * write, the more share a commit. One flight stays free for those that wait for their turn.
   */
  function writeRipe(): void {
    if (ripe === 0 || ripe < aboard || flights >= IN_FLIGHT - 1) return
    write(nextPlans(isNotRipe)).catch(() => undefined)
  }

  /** @param waits which of them are not to be written yet */
  function nextPlans(waits: (cell: Cell) => boolean): readonly Plan[] {
    const plans: Plan[] = []
    const looked = dirty
    dirty = []
    for (const cell of looked) {
      if (plans.length >= FLUSH_LIMIT || waits(cell)) {
        dirty.push(cell)
        continue
      }
      cell.dirty = false
      const plan = planOf(cell)
      if (plan.records.length > 0) plans.push(plan)
      else {
        for (const one of plan.waiting) answer(plan, one)
        wake(cell)
      }
    }
    return plans
  }

  function planOf(cell: Cell): Plan {
    const { queue } = cell
    const plan = cell.ahead ?? planner.begin(cell)
    if (cell.ripe) ripe--
    cell.ripe = false
    cell.ahead = undefined
    cell.queue = []
    for (const one of queue) planner.add(plan, one)
    cell.writing = plan.records.length > 0
    cell.unborn = cell.writing && cell.task === undefined
    return plan
  }

  async function write(plans: readonly Plan[]): Promise<void> {
    flights++
    aboard += plans.length
    let results: readonly CommitResult[] | undefined
    let failure: unknown
    try {
      results = await store.commit(plans.map(planner.commitOf))
    } catch (error) {
      failure = error
    }
    flights--
    aboard -= plans.length
    for (const [index, plan] of plans.entries()) {
      if (results === undefined) lost(plan, failure)
      else settle(plan, results[index])
    }
    writeRipe()
    if (dirty.length > 0) schedule()
    rest()
  }

  function rest(): void {
    if (loads > 0 || flights > 0 || dirty.length > 0 || idlers.length === 0) return
    const waiting = idlers
    idlers = []
    for (const resolve of waiting) resolve()
  }

  function settle(plan: Plan, result: CommitResult | undefined): void {
    const { cell, task } = plan
    if (result?.status === 'conflict') {
      // Somebody else wrote: look again and decide again, in the same order.
      forget(cell)
      cell.queue.unshift(...plan.waiting)
      reload(cell)
      return
    }
    if (result?.status === 'claimed') {
      forget(cell)
      for (const one of plan.waiting) {
        if (one.birth) one.resolve({ ...unchanged(task as Task), claimed: result.claim })
        else one.reject(new LullError('TASK_NOT_FOUND', { taskId: cell.id }))
      }
      wake(cell)
      return
    }
    if (result?.status !== 'written' || task === undefined) {
      const error = result?.status === 'failed' ? result.error : undefined
      lost(plan, error ?? new Error('the store did not answer for this commit'))
      return
    }
    const before = cell.task
    cell.task = task
    cell.row = plan.row
    if (plan.snapshot) cell.snapshotSeq = task.version
    cell.writing = false
    births.over(cell)
    try {
      published(task, plan.records, before)
    } catch (error) {
      // It is written, whatever became of who listens.
      log('error', 'a listener failed', { taskId: task.id, error })
    }
    for (const one of plan.waiting) answer(plan, one)
    wake(cell)
    if (isTerminal(task.state) && isAtRest(cell)) cells.delete(cell.id)
    else cells.trim()
  }

  /** The write did not happen. What came behind it fails as well, or it would overtake what is tried again. */
  function lost({ cell, waiting }: Plan, error: unknown): void {
    forget(cell)
    rejectAll([...waiting, ...cell.queue.splice(0)], error)
  }

  /** What the store has is read before the next decision. */
  function forget(cell: Cell): void {
    cell.writing = false
    cell.loaded = false
    cell.task = undefined
    cell.row = undefined
    births.over(cell)
  }

  /** Somebody creates it, without having looked: it may exist all the same. */
  async function beingCreated(cell: Cell): Promise<Task | undefined> {
    const stored = await store.load(cell.id)
    return cell.task ?? (stored && fold(stored.records, stored.snapshot))
  }

  async function read(taskId: string): Promise<Task | undefined> {
    const cell = cells.get(taskId)
    if (cell?.loaded) return cell.task ?? beingCreated(cell)
    const read = cells.of(taskId)
    await ensureLoaded(read)
    const { task } = read
    // What does not exist is not worth remembering: anybody can ask for anything.
    if (task === undefined && isAtRest(read)) cells.delete(taskId)
    else cells.trim()
    return task
  }

  return {
    commit: (taskId, command, along) => enqueue(taskId, command, false, along),
    create: (taskId, command, along, begun) => enqueue(taskId, command, true, along, begun),
    read,
    peek: (taskId) => cells.get(taskId)?.task,
    forgetEnded() {
      for (const cell of cells.values()) {
        const { id, task } = cell
        if (task !== undefined && isTerminal(task.state) && isAtRest(cell)) cells.delete(id)
      }
    },
    createsSettled: () => births.attend(cells.values()),
    idle: () =>
      loads > 0 || flights > 0 || dirty.length > 0
        ? new Promise((resolve) => idlers.push(resolve))
        : Promise.resolve(),
  }
}

function isNotRipe({ ripe }: Cell): boolean {
  return !ripe
}

function isNew({ loaded, loading, task, queue }: Cell): boolean {
  return !loaded && loading === undefined && task === undefined && queue.length === 0
}
