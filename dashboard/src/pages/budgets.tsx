/** Budgets and rules: what stops tasks by itself, how far each budget is used, refilling and removing. */

import { scopeText } from '../../../src/client/ops-client.ts'
import type { EventFilter } from '../../../src/core/waiting/conditions.ts'
import { filterText } from '../../../src/core/waiting/wait-text.ts'
import type { BudgetSummary, RuleSummary } from '../../../src/wire/ops/control.ts'
import { lacking } from '../acts.ts'
import { Act, textIn } from '../parts/act.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/marks.tsx'
import { Until } from '../parts/times.tsx'
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
      <div class="head">
        <h1>Budgets</h1>
        <span class="sub">what may be spent, and what stops tasks by itself</span>
      </div>
      <Problem of={budgets} />
      <section class="panel" aria-label="Budgets">
        <header>
          <h2>Budgets</h2>
          <span class="push">used up first</span>
        </header>
        {all?.length === 0 && (
          <div class="pad stack-s">
            <p class="quiet">No budget is set. Tasks may use what they need. To set one:</p>
            <pre>{example}</pre>
          </div>
        )}
        {all !== undefined && all.length > 0 && <Table budgets={all} />}
      </section>
      <section class="panel" aria-label="Rules">
        <header>
          <h2>Rules</h2>
        </header>
        {stops?.length === 0 && (
          <p class="pad quiet">There is no rule. A rule places a hold when an event arrives.</p>
        )}
        <ul class="todo">
          {stops?.map((one) => (
            <Rule key={one.ruleId} one={one} />
          ))}
        </ul>
      </section>
    </>
  )
}

function Table({ budgets: all }: { readonly budgets: readonly BudgetSummary[] }) {
  const sorted = [...all].sort((a, b) => b.percent - a.percent)
  return (
    <table class="fold-table budgets">
      <thead>
        <tr>
          <th scope="col">Budget</th>
          <th scope="col">Used</th>
          <th scope="col">Starts again</th>
          <th scope="col">
            <span class="hidden">Acts</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((one) => (
          <Budget key={one.budgetId} one={one} />
        ))}
      </tbody>
    </table>
  )
}

/** Amber means that somebody is asked for something, so a budget that is nearly used up is not amber. */
function fillOf({ usedUp }: BudgetSummary): string {
  return usedUp ? 'c-fail' : 'c-run'
}

function Budget({ one }: { readonly one: BudgetSummary }) {
  const { scope, measure, per, spent, allowed, percent, usedUp, nextPeriodAt } = one
  return (
    <tr>
      <td>
        <span class="row wrap">
          <b>{scopeText(scope)}</b>
          {usedUp && <span class="tag fail">used up: tasks are stopped</span>}
        </span>
        <span class="small quiet">{per === 'life' ? 'for life' : `each ${per}`}</span>
      </td>
      <td class="use" data-name="Used">
        <span class="meter">
          <span>
            {spent.toLocaleString()}{' '}
            <span class="quiet">
              of {allowed.toLocaleString()} {measure}
              {per === 'life' ? '' : ` per ${per}`}
            </span>
          </span>
          <span class="quiet small">{percent} %</span>
          <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
            <rect class={fillOf(one)} width={Math.min(100, percent)} height="6" />
          </svg>
        </span>
      </td>
      <td data-name="Starts again">
        {nextPeriodAt === undefined ? 'never' : <Until at={nextPeriodAt} />}
      </td>
      <td class="num">
        <BudgetActs one={one} />
      </td>
    </tr>
  )
}

function BudgetActs({ one: { budgetId, measure } }: { readonly one: BudgetSummary }) {
  return (
    <span class="acts">
      <Act
        label="Refill"
        refused={lacking('ops:control')}
        about="Allows more in this period. The tasks that the budget stopped go on."
        act={async (form) => {
          const amount = textIn(form, 'amount')
          const input = amount === undefined ? {} : { amount: Number(amount) }
          await ops().refillBudget(budgetId, input)
          await budgets.refresh()
        }}
      >
        <Field label={`Amount in ${measure}`} hint="Left empty, the count starts again at zero.">
          {(id) => <input id={id} name="amount" type="number" step="any" min={0} />}
        </Field>
      </Act>
      <Act
        label="Remove"
        kind="danger"
        refused={lacking('ops:control')}
        about="The tasks that this budget stopped go on, and may use what they need."
        act={async () => {
          await ops().removeBudget(budgetId)
          await budgets.refresh()
        }}
      />
    </span>
  )
}

function Rule({ one }: { readonly one: RuleSummary }) {
  const { ruleId, scope, reason, holdNew } = one
  return (
    <li>
      <Icon name="operations" />
      <div>
        <h3>{firedBy(one)}</h3>
        <p class="quiet">
          holds {scopeText(scope)}
          {holdNew && ', and new tasks'}: {reason}
        </p>
      </div>
      <div class="acts">
        <Act
          label="Remove rule"
          kind="danger"
          refused={lacking('ops:control')}
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
