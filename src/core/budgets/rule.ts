/**
 * A rule stops the tasks of a scope with a hold. It fires on an event, or when a share of a budget
 * is used.
 */

import type { HoldScope } from '../hold-scope.ts'
import type { Actor, PauseMode } from '../suspension.ts'
import type { CloudEvent } from '../waiting/cloud-event.ts'
import { type EventFilter, matches } from '../waiting/conditions.ts'

/** Exactly one of these three members is given. */
export type RuleCause =
  | { readonly onEvent: string }
  | { readonly filter: EventFilter }
  | { readonly budget: { readonly id: string; readonly percent: number } }

export interface Rule {
  readonly kind: 'rule'
  readonly id: string
  readonly version: number
  /** Events of other tenants do not fire the rule. `*` is every tenant. */
  readonly tenant: string
  /** The tenant whose operator added the rule. `*` means an operator of all tenants. */
  readonly owner: string
  readonly when: RuleCause
  readonly scope: HoldScope
  readonly mode: PauseMode
  readonly reason: string
  readonly holdNew: boolean
  readonly actor: Actor
  readonly createdAt: number
}

/** Whether the event fires the rule. */
export function firesOn({ tenant, when }: Rule, event: CloudEvent, eventTenant: string): boolean {
  if (tenant !== '*' && tenant !== eventTenant) return false
  if ('onEvent' in when) return matches({ onEvent: when.onEvent }, event)
  return 'filter' in when && matches({ trigger: { filter: when.filter } }, event)
}
