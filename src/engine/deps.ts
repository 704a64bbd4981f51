import type { Signer } from '../core/receipts/receipt.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { MemoryUsage } from '../ports/memory.ts'
import type { Meter } from '../ports/meter.ts'
import type { Store } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Agent } from './author/agent.ts'
import type { EngineSettings } from './options.ts'

export interface ProcessName {
  readonly host: string
  readonly pid: number
}

/** What the engine needs from outside. `server/` passes real implementations, tests pass a manual clock and fixed ids. */
export interface EngineDeps {
  readonly store: Store
  /** The first one is the default. */
  readonly agents: readonly Agent[]
  readonly clock: Clock
  readonly ids: IdSource
  readonly signer: Signer
  readonly log: Log
  readonly memory: MemoryUsage
  /** Counts and times, for operators. Default: nothing is measured. */
  readonly meter?: Meter
  /** Spans, for operators. Default: nothing is traced. */
  readonly tracing?: Tracing
  /** The version of this program, named in exports. */
  readonly version?: string
  /** Where this process runs, for operators. */
  readonly process?: ProcessName
  readonly options?: EngineSettings
}
