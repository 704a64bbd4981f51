/**
 * Queues tasks that can run and have no run: those left by a dead process (orphans), and those in
 * the store's `ready` list. They start as slots become free: orphans first, then in the order of
 * the list, in which tenants take turns.
 *
 * B1  A task does not start before an older task of its agent and tenant that waits.
 * B2  A slot that becomes free while tasks wait is used.
 *     A slot that no waiting tenant may take stays free (S4 of `slots.ts`).
 * B3  A task that cannot be started does not block the others. It is tried again.
 */
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { ReadyTask, WorkStore } from '../../ports/store/work.ts'
import type { StartTask } from './takeover.ts'

export interface Backlog {
  /** A task of the agent waits in the store's `ready` list. */
  addReady(agent: string): void
  /** Adds a task that a dead process left. `from` is the run of that process. */
  addOrphan(task: Pick<Task, 'id' | 'agent' | 'tenant'>, from: RunToken | undefined): void
  /** Starts as many waiting tasks as there are free slots. */
  pull(agent: string): void
  /** Calls `pull` for every agent with waiting tasks. */
  pullAll(): void
  /** Whether older tasks of the agent already wait. */
  readonly waiting: (agent: string) => boolean
  stop(): void
}

export interface BacklogDeps {
  readonly store: Pick<WorkStore, 'ready'>
  readonly clock: Clock
  readonly log: Log
  /**
   * How many tasks of the agent can start now, of tenants that are not full. A shared store
   * reserves that many.
   */
  readonly room: (agent: string) => number
  /** Tenants that may not take another slot of the agent now. */
  readonly fullTenants: (agent: string) => readonly string[]
  /** Starts a task. Resolves with false when another task took the slot first. */
  readonly start: StartTask
}

const PAGE = 256
const RETRY_MS = 1_000

export function createBacklog(deps: BacklogDeps): Backlog {
  const { clock, log, room } = deps
  const queues = new Map<string, Queue>()
  let stopped = false

  function queueOf(agent: string): Queue {
    const known = queues.get(agent) ?? {
      agent,
      orphans: [],
      ready: false,
      pulling: false,
      blocked: false,
      asked: false,
      failed: new Map(),
    }
    queues.set(agent, known)
    return known
  }

  /**
   * Also true while the store is read: `ready` is already cleared then, but the tasks still wait
   * (B1).
   */
  const waiting = (agent: string): boolean => {
    const queue = queues.get(agent)
    return queue !== undefined && (queue.pulling || isWaiting(queue))
  }

  function pull(agent: string): void {
    const queue = queues.get(agent)
    if (stopped || queue === undefined) return
    // This may be called while the store is read, when `ready` is cleared.
    queue.asked = queue.pulling
    if (queue.pulling || !isWaiting(queue)) return
    queue.pulling = true
    queue.blocked = false
    pullQueue(deps, queue, () => stopped).then(
      () => {
        queue.pulling = false
        if (queue.failed.size > 0) retryLater(queue)
        // Since the last read, a slot may have become free or a task may have been added.
        if (queue.asked || (room(agent) > 0 && !queue.blocked)) pull(agent)
      },
      (error: unknown) => {
        queue.pulling = false
        log('error', 'waiting tasks could not be read; trying again', { agent, error })
        retryLater(queue)
      },
    )
  }

  function retryLater(queue: Queue): void {
    queue.retry ??= clock.after(RETRY_MS, () => {
      queue.retry = undefined
      for (const orphan of queue.failed.values()) {
        if (orphan.from === undefined) queue.ready = true
        else queue.orphans.push(orphan)
      }
      queue.failed.clear()
      pull(queue.agent)
    })
  }

  return {
    addReady(agent) {
      queueOf(agent).ready = true
      // Deferred, so that the caller can use the slot it reserved first.
      setImmediate(() => pull(agent))
    },
    addOrphan({ id: taskId, agent, tenant }, from) {
      const { orphans } = queueOf(agent)
      if (!orphans.some((known) => known.taskId === taskId)) orphans.push({ taskId, tenant, from })
    },
    pull,
    pullAll() {
      for (const agent of queues.keys()) pull(agent)
    },
    waiting,
    stop() {
      stopped = true
    },
  }
}

/** A waiting task. For an orphan, `from` is the run that a dead process left. */
interface Waiting extends ReadyTask {
  readonly from?: RunToken | undefined
}

/** The waiting tasks of one agent. */
interface Queue {
  readonly agent: string
  orphans: Waiting[]
  /** Whether the store's `ready` list may have tasks of the agent. */
  ready: boolean
  /** Tasks that failed to start, by id. They are skipped until the retry. */
  readonly failed: Map<string, Waiting>
  pulling: boolean
  /** Whether all waiting tasks belong to tenants that may not take another slot now. */
  blocked: boolean
  /** `pull` was called while tasks were being started. */
  asked: boolean
  retry?: (() => void) | undefined
}

function isWaiting({ ready, orphans }: Queue): boolean {
  return ready || orphans.length > 0
}

/**
 * Starts waiting tasks page by page. The loop ends, because each page starts a task, has one that
 * failed, or has a tenant that the next page leaves out.
 */
async function pullQueue(deps: BacklogDeps, queue: Queue, stopped: () => boolean): Promise<void> {
  const { agent } = queue
  const refused = new Set<string>()
  for (let room = deps.room(agent); room > 0 && !stopped(); room = deps.room(agent)) {
    const full = [...new Set([...deps.fullTenants(agent), ...refused])]
    const limit = Math.min(room, PAGE)
    const orphans = takeOrphans(queue, limit, full)
    const page = orphans.length > 0 ? orphans : await readyPage(deps.store, queue, limit, full)
    if (page.length === 0) return
    const left = (await Promise.all(page.map((waiting) => startOne(deps, queue, waiting)))).flat()
    queue.orphans.push(...left.filter(({ from }) => from !== undefined))
    for (const { tenant } of left) refused.add(tenant)
  }
}

/**
 * Takes the first orphans off the queue, except those of tenants that may not take another slot.
 */
function takeOrphans(queue: Queue, limit: number, full: readonly string[]): readonly Waiting[] {
  const taken = queue.orphans.filter(({ tenant }) => !full.includes(tenant)).slice(0, limit)
  queue.orphans = queue.orphans.filter((orphan) => !taken.includes(orphan))
  return taken
}

/** `ready` is cleared before the read, so that a task added meanwhile sets it again. */
async function readyPage(
  store: Pick<WorkStore, 'ready'>,
  queue: Queue,
  limit: number,
  full: readonly string[],
): Promise<readonly Waiting[]> {
  const { agent, failed } = queue
  queue.ready = false
  try {
    const page = await store.ready(agent, limit, full, [...failed.keys()])
    if (page.length > 0 || full.length > 0) queue.ready = true
    if (page.length === 0) queue.blocked = true
    return page
  } catch (error) {
    queue.ready = true
    throw error
  }
}

/** Starts one task. Returns it if it got no slot, and undefined otherwise. */
async function startOne(
  { start, log }: BacklogDeps,
  { agent, failed }: Queue,
  waiting: Waiting,
): Promise<readonly Waiting[]> {
  const { taskId, tenant, from } = waiting
  try {
    const started = await start(taskId, { agent, tenant }, from)
    return started ? [] : [waiting]
  } catch (error) {
    log('error', 'a waiting task could not be started; trying again', { taskId, agent, error })
    failed.set(taskId, waiting)
    return []
  }
}
