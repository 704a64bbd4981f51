/** The options of a session: `run_state`, and the agent if there are several. */
import type { SessionConfigOption } from '@agentclientprotocol/sdk'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import { type RunState, runStateOf, runStateOption } from './run-state.ts'

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
