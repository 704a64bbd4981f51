/** Holds: what would be stopped, what is, and letting it go on. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { scopeText } from '../../../src/client/ops-client.ts'
import type { HoldPreview, HoldSummary } from '../../../src/wire/ops/control.ts'
import { Act, textIn } from '../parts/act.tsx'
import { Age } from '../parts/countdown.tsx'
import { messageOf, ops } from '../server.ts'

const holds = signal<readonly HoldSummary[]>([])
const agents = signal<readonly { readonly name: string; readonly description: string }[]>([])
const scope = signal<string>('all')
const preview = signal<HoldPreview | undefined>(undefined)
const problem = signal<string | undefined>(undefined)

const REFRESH_MS = 5_000

const scopeIn = (): Readonly<Record<string, unknown>> =>
  scope.value === 'all' ? { all: true } : { agent: scope.value }

async function refresh(): Promise<void> {
  try {
    holds.value = await ops().holds()
    problem.value = undefined
  } catch (error) {
    problem.value = messageOf(error)
  }
}

async function look(): Promise<void> {
  preview.value = undefined
  preview.value = await ops().previewHold({ scope: scopeIn(), reason: 'preview' })
}

export function Operations() {
  useEffect(() => {
    const all = async (): Promise<void> => {
      await refresh()
      agents.value = await ops().agents()
      await look()
    }
    all().catch((error: unknown) => {
      problem.value = messageOf(error)
    })
    const timer = setInterval(() => {
      if (!document.hidden) refresh().catch(() => undefined)
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      <h1>Operations</h1>
      {problem.value !== undefined && (
        <p class="refusal" role="alert">
          {problem.value}
        </p>
      )}
      <section aria-label="Hold tasks">
        <h2>Hold tasks</h2>
        <label>
          Which{' '}
          <select
            value={scope.value}
            onChange={(event) => {
              scope.value = event.currentTarget.value
              look().catch(() => undefined)
            }}
          >
            <option value="all">every task</option>
            {agents.value.map(({ name }) => (
              <option key={name} value={name}>
                every task of {name}
              </option>
            ))}
          </select>
        </label>
        <p id="preview">{previewText()}</p>
        <Act
          label="Hold"
          shortcut="h"
          kind="danger"
          about={previewText()}
          act={async (form) => {
            const reason = textIn(form, 'reason') ?? ''
            await ops().hold({ scope: scopeIn(), reason, holdNew: form.get('new') === 'on' })
            await refresh()
            await look()
          }}
        >
          <label>
            Reason
            <input name="reason" required maxLength={1_000} />
          </label>
          <label class="check">
            <input type="checkbox" name="new" /> tasks that are yet to come, too
          </label>
        </Act>
      </section>
      <section aria-label="Holds in effect">
        <h2>
          Holds in effect <span class="count">{holds.value.length}</span>
        </h2>
        {holds.value.length === 0 && <p class="empty">Nothing is held.</p>}
        <ul class="cards wide">
          {holds.value.map((hold) => (
            <li class="card" key={hold.holdId}>
              <span class="card-head">
                <span class="agent">{scopeText(hold.scope)}</span>
                {hold.holdNew && <span class="mark">and new tasks</span>}
                <span class="age">
                  <Age since={hold.createdAt} />
                </span>
              </span>
              <span class="says">{hold.reason}</span>
              <Act
                label="Lift"
                about="The tasks that this hold stopped go on."
                act={async () => {
                  await ops().lift(hold.holdId)
                  await refresh()
                }}
              />
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}

function previewText(): string {
  if (preview.value === undefined) return 'Counting…'
  const { tasks, states, alreadyHeld } = preview.value
  if (tasks === 0) return 'There is no open task in this scope.'
  const parts = Object.entries(states).map(([state, count]) => `${count} ${state}`)
  const held = alreadyHeld === 0 ? '' : `; ${alreadyHeld} are held already`
  return `This stops ${tasks === 1 ? '1 task' : `${tasks} tasks`}: ${parts.join(', ')}${held}.`
}
