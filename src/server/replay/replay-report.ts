/** Builds the report of `lull replay`, for one task or for all open tasks. */
import { isPaused, isTerminal, states } from '../../core/states.ts'
import type { Agent } from '../../engine/author/agent.ts'
import { checkRecorded, type RecordedCheck } from '../../engine/requests/replay/check-recorded.ts'
import { pastOf, type RecordedTask } from '../../engine/requests/replay/recorded-task.ts'
import {
  type AgentsReplay,
  type RecordedLog,
  replayAgents,
} from '../../engine/requests/replay/replay-agents.ts'
import { timelineOf } from '../../protocols/ops/timeline.ts'
import type { TaskLog } from '../../wire/ops/logs.ts'
import type { TimelineEntry } from '../../wire/ops/tasks.ts'
import { systemClock } from '../system/clock.ts'
import { createIds } from '../system/ids.ts'
import type { TaskSource } from './stored-tasks.ts'

export type { AgentsReplay, TaskReplay } from '../../engine/requests/replay/replay-agents.ts'

export interface ReplayReport extends RecordedCheck {
  readonly taskId: string
  readonly agent: string
  readonly state: string
  /** Whether the log folds to exactly the state that is shown, and every receipt is genuine. */
  readonly ok: boolean
  readonly timeline: readonly TimelineEntry[]
}

export function replayReport(recorded: RecordedTask): ReplayReport {
  const { id: taskId, agent, state } = recorded.task
  const check = checkRecorded(recorded)
  const ok = check.faults.length + check.differences.length === 0
  return { taskId, agent, state, ok, ...check, timeline: timelineOf(recorded.records) }
}

const LONG_MS = 60_000
const openStates = states.filter((state) => !isTerminal(state))

/** Runs the code of the agents against the logs of all open tasks. */
export async function replayOpenTasks(
  source: TaskSource,
  agents: readonly Agent[],
  parked: boolean,
): Promise<AgentsReplay> {
  const logs = async function* (): AsyncGenerator<RecordedLog> {
    const wanted = parked ? openStates.filter(isPaused) : openStates
    for await (const taskId of source.ids(wanted)) {
      const recorded = await source.recorded(taskId)
      yield { records: recorded.records, past: pastOf(recorded) }
    }
  }
  const deps = { clock: systemClock, ids: createIds(), log: () => undefined }
  // Keeps the process alive during the replay, because the timers of the engine do not.
  const alive = setInterval(() => undefined, LONG_MS)
  return replayAgents({ agents, logs: logs(), parked }, deps).finally(() => clearInterval(alive))
}

/**
 * Converts the answer of a server. Records of a newer version are detected when they are folded.
 */
export function recordedIn(log: TaskLog): RecordedTask {
  return log as TaskLog & RecordedTask
}
