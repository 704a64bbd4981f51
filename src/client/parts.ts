/** What the operations of one client share. */
import type { AgentCard } from './card.ts'
import type { CallSignal } from './client.ts'
import type { Attached } from './reminder-shapes.ts'
import type { Streams } from './tasks/open-streams.ts'
import type { Binding, Version } from './version.ts'
import type { WireReader } from './wire/task-format.ts'
import type { Transport } from './wire/transport.ts'

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
