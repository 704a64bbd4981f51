/** What all connections of the adapter share: services, settings, and the part of the store that they use. */

import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Offers } from '../../../engine/requests/offers.ts'
import type { OpenPrompts } from '../prompts/open-prompts.ts'
import type { WaitingReminders } from '../reminders/session-reminders.ts'
import type { Facts } from '../render/facts.ts'
import type { Queues } from '../sessions/queues.ts'
import type { Sessions, Watching } from '../sessions/sessions.ts'
import type { Traces } from './traces.ts'

export interface AcpContext extends Pick<EngineDeps, 'clock' | 'ids' | 'log'> {
  readonly engine: Engine
  readonly traces: Traces
  readonly store: AcpStore
  readonly config: AcpConfig
  readonly sessions: Sessions
  readonly facts: Facts
  /** The queues of waiting prompts, one per session. */
  readonly promptQueues: Queues
  /**
   * Locks that let only one request per session be routed at a time, so that it sees the effect of
   * earlier ones. A request must enter before its first await, because after it the order of
   * arrival is lost.
   */
  readonly sessionLocks: Queues
  readonly openPrompts: OpenPrompts
  readonly watching: Watching
  readonly waiting: WaitingReminders
  /** The capabilities that at least one agent has. */
  readonly offers: Offers
  /** The name and version of the agent that clients see. */
  readonly agentInfo: { readonly name: string; readonly version: string }
}

/** The settings of the ACP adapter. */
export interface AcpConfig {
  /**
   * Whether `_meta.harn.suspend` is read and written. Deprecated: use the methods of the extension.
   */
  readonly harnTunnel: boolean
  /**
   * The most HTTP and WebSocket connections of one principal. A tenant may have twice as many, the
   * server four times as many.
   */
  readonly connections: number
}

export const defaultConfig: AcpConfig = {
  harnTunnel: true,
  connections: 256,
}

/** The methods of the engine's store that the adapter uses. */
export type AcpStore = Pick<
  EngineDeps['store'],
  | 'putSession'
  | 'replaceSession'
  | 'session'
  | 'sessions'
  | 'contextMessages'
  | 'list'
  | 'getValue'
  | 'replaceValue'
>

export type SessionRow = NonNullable<Awaited<ReturnType<AcpStore['session']>>>
