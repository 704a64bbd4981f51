/** `GetExtendedAgentCard` / `agent/getAuthenticatedExtendedCard`: A2A 1.0 §3.1.11. */
import type { Method } from '../call.ts'
import { A2AError } from '../errors/faults.ts'

export const getExtendedAgentCard: Method = {
  scope: 'tasks:read',
  async run(_a2a, { agent, codec, caller }) {
    const card = agent.extendedCard(codec.version, caller)
    if (card !== undefined) return { value: card }
    // 1.0 has an error for a capability that the card does not offer. 0.3 has one error for both cases.
    const fault =
      codec.version === '1.0' ? 'UNSUPPORTED_OPERATION' : 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
    throw new A2AError(fault, 'This agent has no extended card')
  },
}
