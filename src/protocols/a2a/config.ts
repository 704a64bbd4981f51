/** What an operator can change about A2A. */
export interface A2AConfig {
  /** How 0.3 names the states it does not know: the RFCs' words, or core states for fleets with strict clients. */
  readonly v03States: 'rfc' | 'core'
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
  v03States: 'rfc',
  consentState: 'auth-required',
  pushToPrivate: false,
  pushTimeoutMs: 10_000,
  pushSign: false,
  harnTunnel: true,
  binduPausableStates: ['submitted', 'working', 'input-required'],
}
