/**
 * The capabilities of both sides in `initialize`. Suspending and reminders are declared only if at
 * least one agent supports them.
 */
import {
  type ClientCapabilities,
  type InitializeResponse,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk'
import { pauseModes, resumeCauses } from '../../core/suspension.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { Agent } from '../../engine/author/agent.ts'
import { type Offers, offersOf } from '../../engine/requests/offers.ts'
import { inbound } from './names.ts'

export interface ClientFacts {
  /**
   * Whether the client knows Lull's extension: it declares it, or has called one of its methods.
   * Only such a client gets the notifications and requests of the extension, because old SDKs print
   * an error for each unknown one.
   */
  readonly knowsExtension: boolean
  /**
   * Whether the client declares the RFC. Then it also gets the updates and method names of the RFC.
   */
  readonly rfc: boolean
  /** Whether the client supports forms. */
  readonly forms: boolean
}

export function clientFacts(
  capabilities: Pick<ClientCapabilities, '_meta' | 'elicitation'> | null | undefined,
): ClientFacts {
  const lull = capabilities?._meta?.['lull'] as { rfc?: unknown } | null | undefined
  const knowsExtension = typeof lull === 'object' && lull !== null
  return {
    knowsExtension,
    rfc: knowsExtension && lull.rfc === true,
    forms: capabilities?.elicitation?.form != null,
  }
}

/**
 * The capabilities of which at least one agent has each. A session can choose any of the agents.
 */
export function offersOfAny(agents: Iterable<Agent>): Offers {
  const offers = [...agents].map(offersOf)
  return {
    pause: offers.some(({ pause }) => pause),
    reminders: offers.some(({ reminders }) => reminders),
  }
}

/** The `_meta` of the declared capabilities, which is the same in every version of the protocol. */
export function capabilitiesMeta({ pause, reminders }: Offers): JsonObject {
  const suspend = {
    version: 1,
    methods: [inbound.suspend[0], inbound.wake[0]],
    modes: [...pauseModes],
    causes: [...resumeCauses],
    promptWhileSuspended: 'wake',
  }
  return {
    lull: {
      ...(pause ? { suspend } : {}),
      ...(reminders ? { reminders: { version: 1, methods: [inbound.remind[0]] } } : {}),
    },
  }
}

/** The member in which hosts look for support of steering. */
export const steeringMeta: JsonObject = { steering: { supported: true } }

/** The fields of the RFC's `AgentCapabilities`. */
function rfcCapabilities({ pause }: Offers): object {
  if (!pause) return {}
  return { supportsSuspend: true, supportsAwaitResumption: true, resumeCauses: [...resumeCauses] }
}

export function initializeResponse(
  agentInfo: { readonly name: string; readonly version: string },
  offers: Offers,
): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { ...agentInfo },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      ...rfcCapabilities(offers),
      _meta: capabilitiesMeta(offers),
    },
    _meta: steeringMeta,
  }
}
