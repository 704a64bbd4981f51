/** What is agreed in `initialize`: what we can, and what the client says it can. */
import type { ClientCapabilities, InitializeResponse } from '@agentclientprotocol/sdk'
import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type { JsonObject } from '../../core/json.ts'
import { pauseModes, resumeCauses } from '../../core/suspension.ts'
import { inbound } from './names.ts'

export interface ClientFacts {
  /**
   * Knows of Lull, by its own word or because it called a method of ours: it gets our notifications and requests too. Old
   * SDKs print an error for each one they do not know.
   */
  readonly aware: boolean
  /** Speaks the RFC to the letter: gets its updates and its bare method names too. */
  readonly rfc: boolean
  /** Can show a form and send back what was filled in. */
  readonly forms: boolean
}

export function clientFacts(
  capabilities: Pick<ClientCapabilities, '_meta' | 'elicitation'> | null | undefined,
): ClientFacts {
  const lull = capabilities?._meta?.['lull'] as { rfc?: unknown } | null | undefined
  const aware = typeof lull === 'object' && lull !== null
  return {
    aware,
    rfc: aware && lull.rfc === true,
    forms: capabilities?.elicitation?.form != null,
  }
}

/** `_meta` of our capabilities, in every version of the protocol. */
export const capabilitiesMeta: JsonObject = {
  lull: {
    suspend: {
      version: 1,
      methods: [inbound.suspend[0], inbound.wake[0]],
      modes: [...pauseModes],
      causes: [...resumeCauses],
      promptWhileSuspended: 'wake',
    },
    reminders: { version: 1, methods: [inbound.remind[0]] },
  },
}

/** Hosts of other agents look for it here. */
export const steeringMeta: JsonObject = { steering: { supported: true } }

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
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      // As the RFC writes them; `_meta` says the same where the protocol wants it.
      ...{ supportsSuspend: true, supportsAwaitResumption: true, resumeCauses: [...resumeCauses] },
      _meta: capabilitiesMeta,
    },
    _meta: steeringMeta,
  }
}
