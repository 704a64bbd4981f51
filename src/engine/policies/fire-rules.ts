/**
 * Fires rules: an event, or the share of a budget that is used, places a hold.
 *
 * F1  A rule fires once per event in the whole cluster, however often the event is delivered or
 *     dispatched: the id of the hold is derived from the rule and the event. A hold with that id
 *     that was lifted is not placed again.
 * F2  The hold is in effect before the event is offered to tasks, and before the event counts as
 *     dispatched. An event that was acknowledged before a crash is dispatched after it, and fires
 *     its rules then.
 * F3  A rule on a budget fires once for each period and each amount that is allowed.
 * F4  While a hold of the rule is in effect, further events place no other one. So there is one
 *     hold to lift per rule, and many events write one record.
 * F5  All checks that find the same share of a budget wait for one firing. If it fails, the operation that was checked goes
 *     on, and the next check fires the rule again.
 */

import { firesOn, type Rule } from '../../core/budgets/rule.ts'
import { isLullError } from '../../core/errors.ts'
import { sha256 } from '../../core/receipts/sha256.ts'
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds/holds.ts'
import type { Judged } from './check-budgets.ts'
import type { Policies } from './policies.ts'

export interface FireRules {
  /** Fires the rules for an event. Undefined when there are no rules. */
  onEvent(event: StoredEvent): Promise<void> | undefined
  onFigures(judged: readonly Judged[]): Promise<void>
}

export function createFireRules(
  parts: {
    readonly context: Pick<EngineContext, 'clock' | 'log'>
    readonly holds: Pick<Holds, 'holdByRule'>
  },
  policies: Pick<Policies, 'rules'>,
): FireRules {
  /**
   * The last firing per budget rule, under way or done. Earlier ones are found in the store (F1).
   */
  const firings = new Map<string, { readonly holdId: string; readonly fired: Promise<void> }>()
  /** The newest firing of each rule, while it is under way. */
  const newest = new Map<string, Promise<void>>()

  const holdId = (rule: Rule, cause: string): string =>
    `hold-${sha256(JSON.stringify([rule.id, cause])).slice(0, 32)}`

  /** Fires the rule after earlier firings of the same rule have ended (F4). */
  function fire(rule: Rule, id: string, causedAt?: number): Promise<void> {
    const { owner, scope, reason, holdNew, mode } = rule
    const actor = { kind: 'policy', id: rule.id } as const
    const place = (): Promise<void> => {
      const createdAt = parts.context.clock.now()
      const hold = { id, owner, scope, reason, holdNew, mode, actor, createdAt }
      return parts.holds.holdByRule(hold, causedAt)
    }
    const fired = (newest.get(rule.id) ?? Promise.resolve()).then(place, place)
    newest.set(rule.id, fired)
    const settled = (): void => {
      if (newest.get(rule.id) === fired) newest.delete(rule.id)
    }
    fired.then(settled, settled)
    return fired
  }

  async function fireAll(
    rules: readonly Rule[],
    { tenant, receivedAt, event }: StoredEvent,
  ): Promise<void> {
    const cause = JSON.stringify([tenant, event.source, event.id])
    for (const rule of rules) await fire(rule, holdId(rule, cause), receivedAt)
  }

  /**
   * Fires a rule once per hold id (F5).
   * @throws LullError only `STORE_UNAVAILABLE`; the run then checks again later
   */
  async function fireOnce(rule: Rule, id: string): Promise<void> {
    const last = firings.get(rule.id)
    const firing = last?.holdId === id ? last : { holdId: id, fired: fire(rule, id) }
    firings.set(rule.id, firing)
    try {
      await firing.fired
    } catch (error) {
      const isFirst = firings.get(rule.id) === firing
      if (isFirst) firings.delete(rule.id)
      if (isLullError(error, 'STORE_UNAVAILABLE')) throw error
      const text = 'a rule on a budget could not be fired'
      if (isFirst) parts.context.log('error', text, { rule: rule.id, error })
    }
  }

  return {
    onEvent(event) {
      const rules = policies.rules()
      if (rules.length === 0) return undefined
      const fired = rules.filter((rule) => firesOn(rule, event.event, event.tenant))
      return fired.length === 0 ? undefined : fireAll(fired, event)
    },
    async onFigures(judged) {
      const rules = policies.rules()
      forgetRemoved(firings, rules)
      for (const rule of rules) {
        if (!('budget' in rule.when)) continue
        const { id, percent } = rule.when.budget
        const found = judged.find(({ budget }) => budget.id === id)
        if (found === undefined || found.figures.percent < percent) continue
        const { period, allowed } = found.figures
        await fireOnce(rule, holdId(rule, JSON.stringify([id, period, allowed])))
      }
    },
  }
}

/** Drops entries of rules that no longer exist. */
function forgetRemoved(byRule: Map<string, unknown>, rules: readonly Rule[]): void {
  if (byRule.size <= rules.length) return
  const ids = new Set(rules.map(({ id }) => id))
  for (const id of byRule.keys()) if (!ids.has(id)) byRule.delete(id)
}
