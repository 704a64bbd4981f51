/** The options of a session: `run_state`, and the agent if there are several. */

import type { SessionConfigOption } from '@agentclientprotocol/sdk'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'

export const AGENT = 'agent'

export async function configOptions(
  acp: AcpContext,
  caller: Caller,
  sessionId: string,
): Promise<readonly SessionConfigOption[]> {
  const { agent } = await acp.sessions.get(caller, sessionId)
  const state = await runState(acp, caller, sessionId)
  return [...(acp.offers.pause ? [runStateOption(state)] : []), ...agentOption(acp, agent)]
}

export async function runState(
  { engine, sessions }: AcpContext,
  caller: Caller,
  sessionId: string,
): Promise<RunState> {
  const { total, tasks } = await engine.list(caller, { contextId: sessionId, limit: 1 })
  return runStateOf(await sessions.openTasks(caller, sessionId), total, tasks[0])
}

function agentOption({ engine }: AcpContext, chosen: string | undefined): SessionConfigOption[] {
  const agents = [...engine.agents.values()]
  const [first] = agents
  if (first === undefined || agents.length === 1) return []
  return [
    {
      type: 'select',
      id: AGENT,
      name: 'Agent',
      description: 'Which agent the next prompt goes to',
      category: '_agent',
      currentValue: chosen ?? first.name,
      options: agents.map(({ name, description }) => ({ value: name, name, description })),
    },
  ]
}

/**
 * The session option `run_state`: it suspends and resumes with the standard methods of ACP alone,
 * also while a prompt runs.
 *
 * Clients remember the last value and send it again when they attach, which must not suspend a
 * session that was resumed meanwhile. So each value names one suspension as `<task>.<epoch>`, and a
 * value of an earlier suspension is accepted and changes nothing.
 */
export const RUN_STATE = 'run_state'

interface RunState {
  /** The running task, if any. */
  readonly task: Task | undefined
  readonly running: string
  readonly suspended: string
  readonly isSuspended: boolean
}

/**
 * @param count the number of tasks that the session has had, which is the number of the latest one
 */
function runStateOf(open: readonly Task[], count: number, latest: Task | undefined): RunState {
  const own = open.filter(({ parentId }) => parentId === undefined)
  const task = own.findLast(({ suspension }) => suspension !== undefined) ?? own.at(-1)
  const isSuspended = task?.suspension !== undefined
  const epoch = (task ?? latest)?.epoch ?? 0
  return {
    task,
    running: `running-${count}.${epoch}`,
    suspended: `suspended-${count}.${isSuspended ? epoch : epoch + 1}`,
    isSuspended,
  }
}

function runStateOption({ running, suspended, isSuspended }: RunState): SessionConfigOption {
  return {
    type: 'select',
    id: RUN_STATE,
    name: 'Run state',
    description: 'Suspend the session without losing its place, and resume it',
    category: '_execution',
    currentValue: isSuspended ? suspended : running,
    options: [
      { value: running, name: isSuspended ? 'Resume' : 'Running' },
      { value: suspended, name: isSuspended ? 'Suspended' : 'Suspend' },
    ],
  }
}

/**
 * What a value asks for. `stale`: it names an earlier suspension. Undefined: it is not a valid
 * value of the option.
 */
export function readRunState(
  value: unknown,
  { running, suspended, isSuspended }: RunState,
): 'suspend' | 'resume' | 'stale' | undefined {
  if (typeof value !== 'string' || !/^(running|suspended)-\d+\.\d+$/.test(value)) return undefined
  if (value === suspended && !isSuspended) return 'suspend'
  return value === running && isSuspended ? 'resume' : 'stale'
}
