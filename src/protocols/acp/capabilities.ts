/** What is agreed in `initialize`: what we can. */
import { type InitializeResponse, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'

export function initializeResponse(agentInfo: {
  readonly name: string
  readonly version: string
}): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { ...agentInfo },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
    },
  }
}
