/** The settings of A2A. */
import type { StateSpelling } from './codec/codec.ts'

export interface A2AConfig {
  /**
   * How A2A 0.3 names states that are not in its specification: as in the RFCs, or as core states.
   * Undefined: as in the RFCs at the plain address of an agent, and as core states at the address
   * on its 0.3 card (routing.ts).
   */
  readonly v03States: StateSpelling | undefined
  /**
   * The interval of SSE comments on an idle stream. The official Python client disconnects after 5
   * s without data.
   */
  readonly heartbeatMs: number
  /**
   * The address of gRPC on cards, as `host:port`. `serve` sets its own address, unless clients reach the server at a
   * `publicUrl`: only its operator knows whether a proxy there passes gRPC on.
   */
  readonly grpcAddress: string | undefined
  /** Whether `serve` speaks gRPC on its port. */
  readonly grpc: boolean
  /** The core state of 1.0 that is shown while a task waits for consent. */
  readonly consentState: 'auth-required' | 'input-required'
  /** Whether webhooks may point at private and loopback addresses. */
  readonly pushToPrivate: boolean
  readonly pushTimeoutMs: number
  /** The most open webhooks on the tasks of a principal. Its tenant may have four times as many. */
  readonly webhooks: number
  /**
   * Approximately the most bytes of a task's history in an answer. It contains the newest messages.
   */
  readonly historyBytes: number
  /** Whether deliveries are signed. The public key is at `/.well-known/jwks.json`. */
  readonly pushSign: boolean
  /** Whether cards of A2A 1.0 are signed, with the same key. */
  readonly signCards: boolean
  /**
   * Whether operations in `metadata.harn` are read and written. The RFCs that define them deprecate
   * them.
   */
  readonly harnTunnel: boolean
  /** The states in which `tasks/pause` of the Bindu dialect is accepted. */
  readonly binduPausableStates: readonly ('submitted' | 'working' | 'input-required')[]
}

export const defaultConfig: A2AConfig = {
  v03States: undefined,
  heartbeatMs: 4_000,
  grpcAddress: undefined,
  grpc: true,
  consentState: 'auth-required',
  pushToPrivate: false,
  pushTimeoutMs: 10_000,
  webhooks: 100_000,
  historyBytes: 16_777_216,
  pushSign: false,
  signCards: false,
  harnTunnel: true,
  binduPausableStates: ['submitted', 'working', 'input-required'],
}
