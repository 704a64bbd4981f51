/**
 * Orphans that may have ended their processes. Nobody knows whose code ended a process, so its death counts for every task
 * that ran there without a new record. A task that is about to be stopped for it (`crash-loop`) is started apart from
 * others of its kind, so that the next death counts for the one that caused it.
 *
 * X1  A suspect starts when the one before it has written a record, has stopped or has ended, or after a time that grows
 *     with its deaths. One suspect never holds up the others for longer.
 * X2  The suspect that started last before the death starts first: what ends a process mostly does so soon.
 * X3  Orphans with fewer deaths do not wait.
 */
import type { RunToken } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'

export interface Suspects {
  /** Takes the orphan, if it is a suspect. Otherwise returns false. */
  take(task: Task, from: RunToken | undefined): boolean
  /** Starts the first one, unless another one is being watched. */
  begin(): void
  /** A task was written to. */
  observe(task: Task): void
  stop(): void
}

type Suspect = Pick<Task, 'id' | 'agent' | 'tenant' | 'deaths' | 'updatedAt'>

interface Waiting {
  readonly task: Suspect
  readonly from: RunToken
}

/** How long a suspect runs before the next one starts: by how many deaths are left until it is stopped. */
const ALONE_MS = [0, 60_000, 10_000]
const FEWEST_DEATHS = 2

export function createSuspects(deps: {
  readonly clock: Pick<Clock, 'after'>
  readonly maxDeaths: number
  readonly start: (task: Suspect, from: RunToken) => void
}): Suspects {
  const { clock, maxDeaths, start } = deps
  let waiting: Waiting[] = []
  let current: { readonly taskId: string; readonly cancel: () => void } | undefined

  /** How long the orphan is to run apart from other suspects. 0: it is none, or it will be stopped at once. */
  function aloneMs({ deaths }: Suspect): number {
    const counted = deaths + 1
    return counted < FEWEST_DEATHS ? 0 : (ALONE_MS[maxDeaths - counted] ?? 0)
  }

  function next(): void {
    current?.cancel()
    current = undefined
    waiting.sort((a, b) => b.task.updatedAt - a.task.updatedAt)
    const first = waiting.shift()
    if (first === undefined) return
    const { task, from } = first
    current = { taskId: task.id, cancel: clock.after(aloneMs(task), next) }
    start(task, from)
  }

  return {
    take(task, from) {
      if (from === undefined || aloneMs(task) === 0) return false
      const isKnown = task.id === current?.taskId || waiting.some((one) => one.task.id === task.id)
      const { id, agent, tenant, deaths, updatedAt } = task
      if (!isKnown) waiting.push({ task: { id, agent, tenant, deaths, updatedAt }, from })
      return true
    },
    begin() {
      if (current === undefined) next()
    },
    observe({ id, state, run, deaths }) {
      if (id !== current?.taskId) return
      if (deaths === 0 || run === undefined || isTerminal(state)) next()
    },
    stop() {
      current?.cancel()
      current = undefined
      waiting = []
    },
  }
}
