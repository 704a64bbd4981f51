/**
 * Tasks that could run and that nobody runs: those a dead process left, and those in the store's `ready` list. They are
 * started as slots come free, the orphans first, then in the order of the list.
 *
 * B1  A task that waits is not overtaken by one that comes later.
 * B2  A slot that comes free while tasks wait is used.
 * B3  A task that cannot be started does not keep the others from starting. It is tried again.
 */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { WorkStore } from '../../ports/store/work.ts'

export interface Backlog {
  /** A task of the agent waits in the store's `ready` list. */
  addReady(agent: string): void
  /** A process that is gone left this task. */
  addOrphan(taskId: string, agent: string): void
  /** Starts what there is room for. */
  pull(agent: string): void
  /** Starts what there is room for, of every agent that has tasks waiting. */
  pullAll(): void
  /** Whether tasks of the agent wait already. */
  readonly waiting: (agent: string) => boolean
  stop(): void
}

export interface BacklogDeps {
  readonly store: Pick<WorkStore, 'ready'>
  readonly clock: Clock
  readonly log: Log
  /** How many tasks of the agent can be started now. */
  readonly room: (agent: string) => number
  /** False: the slot was gone again. */
  readonly start: (taskId: string, agent: string, died: boolean) => Promise<boolean>
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
      failed: new Map(),
    }
    queues.set(agent, known)
    return known
  }

  /** Also while the store is asked: the mark `ready` is gone then, and the tasks still wait (B1). */
  const waiting = (agent: string): boolean => {
    const queue = queues.get(agent)
    return queue !== undefined && (queue.pulling || isWaiting(queue))
  }

  function pull(agent: string): void {
    const queue = queues.get(agent)
    if (stopped || queue === undefined || queue.pulling || !isWaiting(queue)) return
    queue.pulling = true
    pullQueue(deps, queue, () => stopped).then(
      () => {
        queue.pulling = false
        if (queue.failed.size > 0) retryLater(queue)
        // A slot may have come free, or a task come in, since the last look.
        if (room(agent) > 0) pull(agent)
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
      for (const [taskId, died] of queue.failed) {
        if (died) queue.orphans.push(taskId)
        else queue.ready = true
      }
      queue.failed.clear()
      pull(queue.agent)
    })
  }

  return {
    addReady(agent) {
      queueOf(agent).ready = true
      // After the caller had its chance to use the slot it reserved.
      setImmediate(() => pull(agent))
    },
    addOrphan(taskId, agent) {
      queueOf(agent).orphans.push(taskId)
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

/** What waits of one agent. */
interface Queue {
  readonly agent: string
  orphans: string[]
  /** The store's list may have tasks of it. */
  ready: boolean
  /** Tasks that could not be started, and whether they are orphans: left out until they are tried again. */
  readonly failed: Map<string, boolean>
  pulling: boolean
  retry?: (() => void) | undefined
}

function isWaiting({ ready, orphans }: Queue): boolean {
  return ready || orphans.length > 0
}

async function pullQueue(deps: BacklogDeps, queue: Queue, stopped: () => boolean): Promise<void> {
  const { agent } = queue
  for (let room = deps.room(agent); room > 0 && !stopped(); room = deps.room(agent)) {
    const died = queue.orphans.length > 0
    const page = died
      ? queue.orphans.splice(0, Math.min(room, PAGE))
      : await readyPage(deps.store, queue, Math.min(room, PAGE))
    if (page.length === 0) return
    const left = await Promise.all(page.map((taskId) => startOne(deps, queue, taskId, died)))
    queue.orphans.push(...left.flat())
  }
}

/** The mark is taken away before the look, so that one set meanwhile is seen. */
async function readyPage(
  store: Pick<WorkStore, 'ready'>,
  queue: Queue,
  limit: number,
): Promise<readonly string[]> {
  const { agent, failed } = queue
  queue.ready = false
  try {
    const listed = await store.ready(agent, limit + failed.size)
    const page = listed.filter((taskId) => !failed.has(taskId)).slice(0, limit)
    if (page.length > 0) queue.ready = true
    return page
  } catch (error) {
    queue.ready = true
    throw error
  }
}

/** What is left of the orphans: none, or this one when its slot was gone again. */
async function startOne(
  { start, log }: BacklogDeps,
  { agent, failed }: Queue,
  taskId: string,
  died: boolean,
): Promise<readonly string[]> {
  try {
    const started = await start(taskId, agent, died)
    return died && !started ? [taskId] : []
  } catch (error) {
    log('error', 'a waiting task could not be started; trying again', { taskId, agent, error })
    failed.set(taskId, died)
    return []
  }
}
