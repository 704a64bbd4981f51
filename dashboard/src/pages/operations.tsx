/** Is the machinery well? If not: what is stuck, why, and what mends it. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { scopeText } from '../../../src/client/ops-client.ts'
import type { HoldPreview, HoldSummary } from '../../../src/wire/ops/control.ts'
import { lacking } from '../acts.ts'
import { isState, looks } from '../looks.ts'
import { Act, textIn } from '../parts/act.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { Lift } from '../parts/held-notice.tsx'
import { Link } from '../parts/link.tsx'
import { MachineFigures, ProcessTable, processes } from '../parts/machinery.tsx'
import { AllDone, Shape } from '../parts/marks.tsx'
import { Stuck, stuckTasks } from '../parts/stuck.tsx'
import { When } from '../parts/times.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { ops } from '../server.ts'
import { holdsInEffect, loadHolds } from '../tasks.ts'

const agents = createPolled(() => ops().agents())
const holds = createPolled(loadHolds)
const scope = signal('all')
const preview = signal<HoldPreview | undefined>(undefined)

const scopeIn = (): Readonly<Record<string, unknown>> =>
  scope.value === 'all' ? { all: true } : { agent: scope.value }

async function look(): Promise<void> {
  preview.value = undefined
  preview.value = await ops().previewHold({ scope: scopeIn() })
}

export function Operations() {
  for (const one of [agents, holds, processes, stuckTasks]) usePolled(one)
  useEffect(() => {
    look().catch(() => undefined)
  }, [])
  return (
    <>
      <div class="head">
        <h1>Operations</h1>
        <span class="sub">what runs, what is stuck, and what to do</span>
      </div>
      <Problem of={holds} />
      <MachineFigures />
      <Stuck />
      <ProcessTable />
      <div class="two wide-left">
        <Holds holds={holdsInEffect.value} />
        <HoldTasks />
      </div>
    </>
  )
}

function Holds({ holds: all }: { readonly holds: readonly HoldSummary[] }) {
  return (
    <section class="panel" aria-label="Holds in effect">
      <header>
        <h2>Holds in effect</h2>
        <span class="count">{all.length}</span>
      </header>
      {all.length === 0 && (
        <div class="empty">
          <AllDone />
          <p class="quiet">Nothing is held.</p>
        </div>
      )}
      <ul class="todo">
        {all.map((hold) => (
          <li key={hold.holdId}>
            <Shape shape="held" tone="off" />
            <div>
              <h3>{hold.reason}</h3>
              <p class="quiet">
                {scopeText(hold.scope)}
                {hold.holdNew && ', also tasks yet to come'} · by {hold.actor.id} since{' '}
                <When at={hold.createdAt} />
              </p>
            </div>
            <div class="acts">
              <Link class="small" to={{ page: 'tasks', query: { show: 'held' } }}>
                Show what is held
              </Link>
              <Lift hold={hold} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function HoldTasks() {
  return (
    <section class="panel" aria-label="Hold tasks">
      <header>
        <h2>Hold tasks</h2>
      </header>
      <div class="pad form">
        <Field label="Which" hint={<span id="preview">{previewText()}</span>}>
          {(id) => (
            <select
              id={id}
              value={scope.value}
              onChange={(event) => {
                scope.value = event.currentTarget.value
                look().catch(() => undefined)
              }}
            >
              <option value="all">every task</option>
              {agents.value.value?.map(({ name }) => (
                <option key={name} value={name}>
                  every task of {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div class="acts">
          <Act
            label="Hold"
            effect={effectText()}
            shortcut="h"
            kind="danger"
            refused={lacking('ops:control')}
            about={`${previewText()} Nothing is lost: when the hold is lifted they go on from where they are. Answers and events that arrive meanwhile are kept.`}
            act={async (form) => {
              const reason = textIn(form, 'reason') ?? ''
              await ops().hold({ scope: scopeIn(), reason, holdNew: form.get('new') === 'on' })
              await loadHolds()
              await look()
            }}
          >
            <TextField
              label="Reason"
              name="reason"
              hint="Everybody who sees these tasks reads it."
              required
              maxLength={1_000}
            />
            <label class="choice">
              <input type="checkbox" name="new" /> also tasks that are yet to come
            </label>
          </Act>
        </div>
      </div>
    </section>
  )
}

const counted = (count: number): string => (count === 1 ? '1 task' : `${count} tasks`)

function effectText(): string {
  return preview.value === undefined ? 'Hold' : `Hold ${counted(preview.value.tasks)}`
}

function previewText(): string {
  if (preview.value === undefined) return 'Counting…'
  const { tasks, states, alreadyHeld } = preview.value
  if (tasks === 0) return 'There is no open task in this scope.'
  const parts = Object.entries(states).map(
    ([state, count]) => `${count} ${(isState(state) ? looks[state].word : state).toLowerCase()}`,
  )
  const held = alreadyHeld === 0 ? '' : `; ${alreadyHeld} are held already`
  return `This stops ${counted(tasks)}: ${parts.join(', ')}${held}.`
}
