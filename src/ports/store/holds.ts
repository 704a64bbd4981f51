import type { HoldScope } from '../../core/hold-scope.ts'
import type { PauseMode } from '../../core/suspension.ts'

export type { HoldScope } from '../../core/hold-scope.ts'

export interface Hold {
  readonly id: string
  /** The tenant whose operator placed the hold. `*` means an operator of all tenants. */
  readonly owner: string
  readonly scope: HoldScope
  readonly reason: string
  readonly holdNew: boolean
  /** How tasks are stopped. Default: `interrupt_immediate`. */
  readonly mode?: PauseMode
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: number
  readonly liftedAt?: number
}

export interface HoldStore {
  /** Inserts the hold or replaces the one with its id. Also used to store `liftedAt`. */
  putHold(hold: Hold): Promise<void>
  /** Holds in effect, oldest first; with `all`, lifted ones too. */
  holds(all?: boolean): Promise<readonly Hold[]>
  pruneHolds(liftedBefore: number, limit: number): Promise<number>
}
