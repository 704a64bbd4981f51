/**
 * Checks before a deployment how recorded tasks would continue with new code. For tests, and for
 * `lull replay --agents`.
 */
import type { LogRecord } from '../core/records.ts'
import type { Agent } from '../engine/author/agent.ts'
import {
  type AgentsReplay,
  replayAgents as replay,
} from '../engine/requests/replay/replay-agents.ts'
import type { Clock } from '../ports/clock.ts'
import { createCountingIds } from './counting-ids.ts'

export interface ReplayAgentsOptions {
  /** The agents with the new code. */
  readonly agents: readonly Agent[]
  /** The logs of tasks, each complete from its first record on. */
  readonly logs: Iterable<readonly LogRecord[]>
  /** Checks only tasks that are paused or parked. Default: all that have not ended. */
  readonly parked?: boolean
}

/**
 * Runs the code of the agents against recorded logs, up to the first operation that is not in the
 * log. No function of a step runs, and nothing is stored or sent. It takes two to three seconds to
 * find out that a task would stop.
 */
export function replayAgents({ logs, ...request }: ReplayAgentsOptions): Promise<AgentsReplay> {
  const recorded = [...logs].map((records) => ({ records }))
  const deps = { clock: waitingClock, ids: createCountingIds(), log: () => undefined }
  return replay({ ...request, logs: recorded }, deps)
}

/** The system clock, with timers that keep the process alive while a replay waits. */
const waitingClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  wall: Date.now,
  after: (ms, callback) => cancelOf(setTimeout(callback, ms)),
  at: (instant, callback) => cancelOf(setTimeout(callback, instant - Date.now())),
}

function cancelOf(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer)
}
