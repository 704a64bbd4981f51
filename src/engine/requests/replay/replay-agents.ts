/** Runs the code of agents against the logs of many tasks, and says how each task would go on. */

import { fold } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isPaused, isTerminal, type State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import type { Agent } from '../../author/agent.ts'
import type { Past } from '../../author/conversation.ts'
import type { CodeReplay, CodeReplayDeps } from './code-replay.ts'
import { replayCode } from './replay-code.ts'

/** - `agent-unknown`: no agent of that name is given. - `unreadable`: the log cannot be folded. */
export type ReplayVerdict = CodeReplay['verdict'] | 'agent-unknown' | 'unreadable'

export interface TaskReplay extends Omit<CodeReplay, 'verdict'> {
  readonly taskId: string
  readonly agent: string
  readonly state: State
  readonly verdict: ReplayVerdict
}

export interface AgentsReplay {
  /** Whether every task goes on. A task with the verdict `unclear` may stop all the same. */
  readonly ok: boolean
  /** How many tasks have each verdict. */
  readonly counts: Readonly<Record<ReplayVerdict, number>>
  /** Tasks that have ended are left out. */
  readonly tasks: readonly TaskReplay[]
}

export interface RecordedLog {
  readonly records: readonly LogRecord[]
  /** The past of the context that the task sees. Absent: none. */
  readonly past?: Past | undefined
}

export interface AgentsReplayRequest {
  readonly agents: readonly Agent[]
  readonly logs: AsyncIterable<RecordedLog> | Iterable<RecordedLog>
  /** Only tasks that are paused or parked. */
  readonly parked?: boolean | undefined
}

/** Replays at the same time. Each keeps a whole log in memory. */
const AT_ONCE = 8
const trouble: readonly ReplayVerdict[] = ['stops', 'fails', 'agent-unknown', 'unreadable']
const nothing = { goesOnFrom: [], notCalled: [] } as const

export async function replayAgents(
  { agents, logs, parked = false }: AgentsReplayRequest,
  deps: CodeReplayDeps,
): Promise<AgentsReplay> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const tasks: TaskReplay[] = []
  const replaying = new Set<Promise<void>>()
  for await (const log of logs) {
    const one = replayTask(byName, log, parked, deps).then((replay) => {
      if (replay !== undefined) tasks.push(replay)
      replaying.delete(one)
    })
    replaying.add(one)
    if (replaying.size >= AT_ONCE) await Promise.race(replaying)
  }
  await Promise.all(replaying)
  tasks.sort((a, b) => (a.taskId < b.taskId ? -1 : 1))
  const ok = tasks.every(({ verdict }) => !trouble.includes(verdict))
  return { ok, counts: countsOf(tasks), tasks }
}

/** Undefined for a task that is not asked for. */
async function replayTask(
  agents: ReadonlyMap<string, Agent>,
  { records, past }: RecordedLog,
  parked: boolean,
  deps: CodeReplayDeps,
): Promise<TaskReplay | undefined> {
  let task: Task | undefined
  try {
    task = fold(records)
  } catch (error) {
    return unreadable(records, describeError(error).message)
  }
  if (task === undefined || isTerminal(task.state)) return undefined
  if (parked && !isPaused(task.state)) return undefined
  const { id: taskId, agent: name, state } = task
  const agent = agents.get(name)
  const replay =
    agent === undefined
      ? ({ verdict: 'agent-unknown', ...nothing } as const)
      : await replayCode(agent, records, deps, past)
  return { taskId, agent: name, state, ...replay }
}

function unreadable([first]: readonly LogRecord[], failure: string): TaskReplay | undefined {
  const known = first?.type === 'submitted' ? first : { taskId: '', agent: '' }
  const { taskId, agent } = known
  return { taskId, agent, state: 'paused-by-client', verdict: 'unreadable', failure, ...nothing }
}

function countsOf(tasks: readonly TaskReplay[]): AgentsReplay['counts'] {
  const counts = { fits: 0, stops: 0, fails: 0, unclear: 0, 'agent-unknown': 0, unreadable: 0 }
  for (const { verdict } of tasks) counts[verdict]++
  return counts
}
