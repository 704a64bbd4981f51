/** Says that a task is held: by which hold, by whom, since when. */
import { scopeText } from '../../../src/client/ops-client.ts'
import type { HoldSummary } from '../../../src/wire/ops/control.ts'
import { lacking } from '../acts.ts'
import { ops } from '../server.ts'
import { holdsInEffect, type Known, loadHolds } from '../tasks.ts'
import { Act } from './act.tsx'
import { Link } from './link.tsx'
import { When } from './times.tsx'

export function HeldNotice({ task }: { readonly task: Known }) {
  if (!task.held) return null
  const own = holdsInEffect.value.filter((hold) => holds(hold, task))
  return (
    <div class="notice holding">
      <svg class="st off" viewBox="0 0 16 16" aria-hidden="true">
        <use href="#s-held" />
      </svg>
      <div class="grow">
        {own.length === 0 && <b>Held by an operator. </b>}
        {own.map((hold) => (
          <p key={hold.holdId}>
            <b>
              Held by {hold.actor.id} since <When at={hold.createdAt} />: “{hold.reason}”.
            </b>
          </p>
        ))}
        The countdown stands still. What arrives is kept until the hold is lifted.
      </div>
      <Link to={{ page: 'operations' }}>See the hold</Link>
      {own.map((hold) => (
        <Lift key={hold.holdId} hold={hold} />
      ))}
    </div>
  )
}

export function Lift({ hold }: { readonly hold: HoldSummary }) {
  return (
    <Act
      label="Lift"
      about={`The tasks that this hold stopped go on: ${scopeText(hold.scope)}.`}
      refused={lacking('ops:control')}
      act={async () => {
        await ops().lift(hold.holdId)
        await loadHolds()
      }}
    />
  )
}

function holds({ scope }: HoldSummary, task: Known): boolean {
  if (scope['all'] === true) return true
  const { taskIds } = scope
  if (Array.isArray(taskIds)) return taskIds.includes(task.taskId)
  const { tenant, agent, contextId } = task
  const facts: Readonly<Record<string, unknown>> = { tenant, agent, contextId }
  return Object.entries(scope).every(([name, value]) => facts[name] === value)
}
