/**
 * Hands what was decided to the store, in batches: one fsync is shared by everything in a batch.
 *
 * The flush rule. Once per event-loop turn, every queued task is decided and written. A task that was created ahead of its
 * commit stays open for one more turn, so that what its code asks for joins the same commit; once it has ended nothing can
 * join, and it is written with this flush. While `IN_FLIGHT` batches are under way tasks stay queued, and the first batch
 * that comes back starts the next flush.
 */
import { isTerminal } from '../../core/states.ts'
import type { CommitResult, TaskStore } from '../../ports/store/tasks.ts'
import type { Plan, Planner } from './plan.ts'
import type { TaskEntry } from './task-entry.ts'

export interface Flusher {
  /** The entry is `queued` or `open`, and is to be written with a coming flush. */
  add(entry: TaskEntry): void
}

export interface FlusherDeps {
  readonly store: Pick<TaskStore, 'commit'>
  readonly planner: Planner
  /** Decides what waits. Undefined: there is nothing to write. */
  readonly decide: (entry: TaskEntry) => Plan | undefined
  readonly settle: (plan: Plan, result: CommitResult | undefined) => void
  /** The store as a whole could not write. */
  readonly fail: (plan: Plan, error: unknown) => void
}

/** A larger batch adds latency and saves next to nothing: the fsync is shared by many already. */
const BATCH = 128
/** Batches under way. The store works on one and takes the others next, together where it can. */
const IN_FLIGHT = 8

export function createFlusher({ store, planner, decide, settle, fail }: FlusherDeps): Flusher {
  const queued: TaskEntry[] = []
  /** Created ahead in this event-loop turn. */
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
