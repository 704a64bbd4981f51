import type { HoldScope } from '../../core/hold-scope.ts'
import type { PauseMode } from '../../core/suspension.ts'

export type { HoldScope } from '../../core/hold-scope.ts'

export interface Hold {
  readonly id: string
  /** The tenant whose operator placed it. `*` is an operator of all tenants. */
  readonly owner: string
  readonly scope: HoldScope
  readonly reason: string
  readonly holdNew: boolean
  /** How tasks are stopped. Absent: `interrupt_immediate`. */
  readonly mode?: PauseMode
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: number
  readonly liftedAt?: number
}

export interface HoldStore {
  /** Idempotent by id; also stores `liftedAt`. */
  putHold(hold: Hold): Promise<void>
  /** Holds that are not lifted, oldest first; with `all`, lifted ones too. */
  holds(all?: boolean): Promise<readonly Hold[]>
  pruneHolds(liftedBefore: number, limit: number): Promise<number>
}
