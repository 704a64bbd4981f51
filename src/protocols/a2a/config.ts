/** What an operator can change about A2A. */
import type { StateSpelling } from './codec/codec.ts'

export interface A2AConfig {
  /**
   * How A2A 0.3 names the states it does not know: the RFCs' words, or core states. Undefined: RFC words at an agent's
   * plain address, core states at the address that its 0.3 card names (routing.ts).
   */
  readonly v03States: StateSpelling | undefined
  /** Pause between two SSE comments on a silent stream. The official Python client gives up after 5 s of silence. */
  readonly heartbeatMs: number
  /** What 1.0 readers see while a user's consent is asked for. */
  readonly consentState: 'auth-required' | 'input-required'
  /** Whether webhooks may point at private and loopback addresses. */
  readonly pushToPrivate: boolean
  readonly pushTimeoutMs: number
  /** Whether deliveries are signed; the public key is then at `/.well-known/jwks.json`. */
  readonly pushSign: boolean
  /** The seeds' metadata tunnel; deprecated from the start. */
  readonly harnTunnel: boolean
  /** States that `tasks/pause` of the Bindu dialect takes: all that can be stopped, or fewer. */
  readonly binduPausableStates: readonly ('submitted' | 'working' | 'input-required')[]
}

export const defaultConfig: A2AConfig = {
  v03States: undefined,
  heartbeatMs: 4_000,
  consentState: 'auth-required',
  pushToPrivate: false,
  pushTimeoutMs: 10_000,
  pushSign: false,
  harnTunnel: true,
  binduPausableStates: ['submitted', 'working', 'input-required'],
}
