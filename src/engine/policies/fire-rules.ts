/**
 * Fires rules: an event, or the share of a budget that is used, places a hold.
 *
 * F1  A rule fires once for an event in the whole cluster, however often the event is delivered or dispatched: the id of
 *     the hold is made from the rule and the event. A hold of that id that was lifted is not placed again.
 * F2  The hold is in effect before the event is offered to tasks, and before the event counts as dispatched. An event that
 *     was acknowledged before a crash is dispatched after it, and so fires its rules.
 * F3  A rule on a budget fires once for each period and each amount that is allowed.
 */

import { firesOn, type Rule } from '../../core/budgets/rule.ts'
import type { StoredEvent } from '../../core/cloud-event.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds.ts'
import type { Judged } from './check-budgets.ts'
import type { Policies } from './policies.ts'

export interface FireRules {
  /** Undefined when there are no rules. */
  onEvent(event: StoredEvent): Promise<void> | undefined
  onFigures(judged: readonly Judged[]): Promise<void>
}

export function createFireRules(
  contextOf: () => EngineContext,
  holdsOf: () => Pick<Holds, 'holdByRule'>,
  policies: Pick<Policies, 'rules'>,
): FireRules {
  /** Holds that this process has placed for figures, so that not every check asks the store for them. */
  const placed = new Set<string>()

  async function fire(rule: Rule, cause: string): Promise<string> {
    const { signer, clock } = contextOf()
    const id = `hold-${signer.hash(JSON.stringify([rule.id, cause])).slice(0, 32)}`
    if (placed.has(id)) return id
    const { scope, reason, holdNew, mode } = rule
    const actor = { kind: 'policy', id: rule.id } as const
    const hold = { id, scope, reason, holdNew, mode, actor, createdAt: clock.now() }
    await holdsOf().holdByRule(hold)
    return id
  }

  async function fireAll(rules: readonly Rule[], event: StoredEvent): Promise<void> {
    const { source, id } = event.event
    for (const rule of rules) await fire(rule, JSON.stringify([event.tenant, source, id]))
  }

  return {
    onEvent(event) {
      const rules = policies.rules()
      if (rules.length === 0) return undefined
      const fired = rules.filter((rule) => firesOn(rule, event.event, event.tenant))
      return fired.length === 0 ? undefined : fireAll(fired, event)
    },
    async onFigures(judged) {
      for (const rule of policies.rules()) {
        if (!('budget' in rule.when)) continue
        const { id, percent } = rule.when.budget
        const found = judged.find(({ budget }) => budget.id === id)
        if (found === undefined || found.figures.percent < percent) continue
        const { period, allowed } = found.figures
        placed.add(await fire(rule, JSON.stringify([id, period, allowed])))
      }
    },
  }
}
