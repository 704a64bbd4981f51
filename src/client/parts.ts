/** What the operations of one client share. */
import type { AgentCard } from './card.ts'
import type { CallSignal } from './client.ts'
import type { WireReader } from './read-wire.ts'
import type { Attached } from './reminder-shapes.ts'
import type { Streams } from './streams.ts'
import type { Transport } from './transport.ts'
import type { Binding, Version } from './version.ts'

/** Time and randomness. Tests replace them. */
export interface Waiting {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
}

export interface ClientParts {
  readonly transport: Transport
  readonly read: WireReader
  readonly version: Version
  readonly binding: Binding
  readonly streams: Streams
  readonly attached: Attached
  readonly waiting: Waiting
  readonly card: (options?: CallSignal) => Promise<AgentCard>
  /** The card, if it has been read. */
  readonly knownCard: () => AgentCard | undefined
}
