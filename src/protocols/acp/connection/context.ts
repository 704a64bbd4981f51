/** What the adapter has at hand, shared by all connections. */
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Offers } from '../../../engine/offers.ts'
import type { AcpConfig } from '../config.ts'
import type { OpenPrompts } from '../prompts/open-prompts.ts'
import type { WaitingReminders } from '../reminders/waiting-reminders.ts'
import type { Facts } from '../render/facts.ts'
import type { Queues } from '../sessions/queues.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { AcpStore } from '../sessions/store.ts'
import type { Watching } from '../sessions/watching.ts'

export interface AcpContext extends Pick<EngineDeps, 'clock' | 'ids' | 'log'> {
  readonly engine: Engine
  readonly store: AcpStore
  readonly config: AcpConfig
  readonly sessions: Sessions
  readonly facts: Facts
  /** Prompts that wait until they can be the next task, per session. */
  readonly promptQueues: Queues
  /**
   * One request at a time is routed per session, so that a later one sees what an earlier one became. A request enters
   * before it awaits anything else: the order of arrival is lost with the first await.
   */
  readonly sessionLocks: Queues
  readonly openPrompts: OpenPrompts
  readonly watching: Watching
  readonly waiting: WaitingReminders
  /** What at least one of the agents offers. */
  readonly offers: Offers
  /** Who we say we are. */
  readonly agentInfo: { readonly name: string; readonly version: string }
}
