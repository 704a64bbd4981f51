/** Budgets and rules: what stops tasks by itself, how far each budget is used, refilling and removing. */

import { scopeText } from '../../../src/client/ops-client.ts'
import type { EventFilter } from '../../../src/core/waiting/conditions.ts'
import { filterText } from '../../../src/core/waiting/wait-text.ts'
import type { BudgetSummary, RuleSummary } from '../../../src/wire/ops/control.ts'
import { Act, textIn } from '../parts/act.tsx'
import { Until } from '../parts/countdown.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { ops } from '../server.ts'

const budgets = createPolled(() => ops().budgets())
const rules = createPolled(() => ops().rules())

const example = 'lull budgets set --agent travel --cost-usd 5 --per day'

export function Budgets() {
  usePolled(budgets)
  usePolled(rules)
  const [all, stops] = [budgets.value.value, rules.value.value]
  return (
    <>
      <h1>Budgets and rules</h1>
      <Problem of={budgets} />
      <section aria-label="Budgets">
        <h2>Budgets</h2>
        {all?.length === 0 && (
          <>
            <p class="empty">No budget is set. Tasks may use what they need. To set one:</p>
            <pre>{example}</pre>
          </>
        )}
        <ul class="cards wide">
          {all?.map((one) => (
            <Budget key={one.budgetId} one={one} />
          ))}
        </ul>
      </section>
      <section aria-label="Rules">
        <h2>Rules</h2>
        {stops?.length === 0 && (
          <p class="empty">There is no rule. A rule places a hold when an event arrives.</p>
        )}
        <ul class="cards wide">
          {stops?.map((one) => (
            <Rule key={one.ruleId} one={one} />
          ))}
        </ul>
      </section>
    </>
  )
}

function Budget({ one }: { readonly one: BudgetSummary }) {
  const { budgetId, scope, measure, per, spent, allowed, percent, usedUp, nextPeriodAt } = one
  return (
    <li class="card" data-state={usedUp ? 'failed' : 'completed'}>
      <span class="card-head">
        <span class="agent">{scopeText(scope)}</span>
        {usedUp && <span class="mark">used up: tasks are stopped</span>}
        <span class="age">
          {nextPeriodAt === undefined ? (
            'for life'
          ) : (
            <>
              starts again <Until at={nextPeriodAt} />
            </>
          )}
        </span>
      </span>
      <strong class="title">
        {spent.toLocaleString()} of {allowed.toLocaleString()} {measure}
        {per === 'life' ? '' : ` per ${per}`}
      </strong>
      <progress value={Math.min(100, percent)} max={100} aria-label={`${percent} % used`} />
      <div class="actions">
        <Act
          label="Refill"
          kind="primary"
          about="Allows more in this period. The tasks that the budget stopped go on."
          act={async (form) => {
            const amount = textIn(form, 'amount')
            await ops().refillBudget(
              budgetId,
              amount === undefined ? {} : { amount: Number(amount) },
            )
            await budgets.refresh()
          }}
        >
          <label>
            Amount in {measure}; empty: the count starts again at zero
            <input name="amount" type="number" step="any" min={0} />
          </label>
        </Act>
        <Act
          label="Remove"
          kind="danger"
          about="The tasks that this budget stopped go on, and may use what they need."
          act={async () => {
            await ops().removeBudget(budgetId)
            await budgets.refresh()
          }}
        />
      </div>
    </li>
  )
}

function Rule({ one }: { readonly one: RuleSummary }) {
  const { ruleId, scope, reason, holdNew } = one
  return (
    <li class="card">
      <span class="card-head">
        <span class="agent">holds {scopeText(scope)}</span>
        {holdNew && <span class="mark">and new tasks</span>}
      </span>
      <strong class="title">{firedBy(one)}</strong>
      <span class="says">{reason}</span>
      <div class="actions">
        <Act
          label="Remove rule"
          kind="danger"
          about="Holds that it placed stay in effect until they are lifted."
          act={async () => {
            await ops().removeRule(ruleId)
            await rules.refresh()
          }}
        />
      </div>
    </li>
  )
}

function firedBy({ onEvent, filter, budget }: RuleSummary): string {
  if (onEvent !== undefined) return `On the event ${onEvent}`
  if (budget !== undefined) return `At ${budget.percent} % of the budget ${budget.id}`
  return `On events where ${filterText(filter as EventFilter)}`
}
