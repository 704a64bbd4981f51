/** What the adapter has at hand, shared by all connections. */
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcpConfig } from './config.ts'
import type { Facts } from './facts.ts'
import type { Lines } from './lines.ts'
import type { Sessions } from './sessions.ts'
import type { AcpStore } from './store.ts'
import type { Turns } from './turns.ts'

export interface AcpContext extends Pick<EngineDeps, 'clock' | 'ids' | 'log'> {
  readonly engine: Engine
  readonly store: AcpStore
  readonly config: AcpConfig
  readonly sessions: Sessions
  readonly facts: Facts
  /** Prompts that wait until they can be the next task. */
  readonly lines: Lines
  /** Prompts decide one at a time what they are. */
  readonly gates: Lines
  readonly turns: Turns
  /** Who we say we are. */
  readonly agentInfo: { readonly name: string; readonly version: string }
}
