/**
 * Sends decided commands to the store in batches. All commits of a batch share one fsync.
 *
 * The flush rule. Once per event-loop turn, every queued task is decided and written. A task whose
 * create was decided ahead of its commit stays open for one more turn, so that the first commands
 * of its code join the same commit. If the task has already ended, it is written with this flush.
 * While `IN_FLIGHT` batches are under way, tasks stay queued, and the first batch that is answered
 * starts the next flush.
 */
import { isTerminal } from '../../core/states.ts'
import type { CommitResult, TaskStore } from '../../ports/store/tasks.ts'
import type { Plan, Planner } from './plan.ts'
import type { TaskEntry } from './task-entry.ts'

export interface Flusher {
  /** Adds an entry in phase `queued` or `open` to the next possible flush. */
  add(entry: TaskEntry): void
}

export interface FlusherDeps {
  readonly store: Pick<TaskStore, 'commit'>
  readonly planner: Planner
  /** Decides the queued commands of the entry. Undefined: there is nothing to write. */
  readonly decide: (entry: TaskEntry) => Plan | undefined
  readonly settle: (plan: Plan, result: CommitResult | undefined) => void
  /** Called when the store as a whole cannot write. */
  readonly fail: (plan: Plan, error: unknown) => void
}

/** A larger batch would only add latency: so many commits already share one fsync. */
const BATCH = 128
/** The most batches under way. The store works on one, and joins those that wait where it can. */
const IN_FLIGHT = 8

export function createFlusher({ store, planner, decide, settle, fail }: FlusherDeps): Flusher {
  const queued: TaskEntry[] = []
  /** Entries whose create was decided ahead of its commit in this event-loop turn. */
  let opened: TaskEntry[] = []
  let scheduled = false
  let inFlight = 0

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    scheduled = false
    const stillOpen: TaskEntry[] = []
    for (const entry of opened) (hasEnded(entry) ? queued : stillOpen).push(entry)
    opened = []
    while (queued.length > 0 && inFlight < IN_FLIGHT) {
      const plans = queued.splice(0, BATCH).map(decide)
      const toWrite = plans.filter((plan) => plan !== undefined)
      if (toWrite.length > 0) write(toWrite).catch(() => undefined)
    }
    for (const entry of stillOpen) queued.push(entry)
    scheduleIfPossible()
  }

  function scheduleIfPossible(): void {
    if (queued.length + opened.length > 0 && inFlight < IN_FLIGHT) schedule()
  }

  async function write(plans: readonly Plan[]): Promise<void> {
    inFlight++
    let results: readonly CommitResult[] | undefined
    let failure: unknown
    try {
      results = await store.commit(plans.map(planner.commitOf))
    } catch (error) {
      failure = error
    }
    inFlight--
    for (const [index, plan] of plans.entries()) {
      if (results === undefined) fail(plan, failure)
      else settle(plan, results[index])
    }
    scheduleIfPossible()
  }

  return {
    add(entry) {
      if (entry.phase === 'open') opened.push(entry)
      else queued.push(entry)
      schedule()
    },
  }
}

function hasEnded({ plan }: TaskEntry): boolean {
  return plan?.task !== undefined && isTerminal(plan.task.state)
}
