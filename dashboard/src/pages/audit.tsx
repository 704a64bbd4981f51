/** The audit log: who did what, and what was refused, the latest first. */
import { signal } from '@preact/signals'
import type { AuditSummary } from '../../../src/wire/ops/server.ts'
import { TaskLink } from '../parts/link.tsx'
import { When } from '../parts/times.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { ops } from '../server.ts'

const hours = signal(24)
const principal = signal('')
const MOST = 1_000

const audit = createPolled(() => {
  const since = new Date(Date.now() - hours.value * 3_600_000).toISOString()
  return ops().audit({ since, principal: principal.value || undefined, order: 'desc', limit: MOST })
})

const periods = [
  [1, 'the last hour'],
  [24, 'the last 24 hours'],
  [168, 'the last 7 days'],
  [2_160, 'the last 90 days'],
] as const

export function Audit() {
  usePolled(audit)
  const page = audit.value.value
  return (
    <>
      <div class="head">
        <h1>Audit</h1>
        <span class="sub">who did what, and what was refused, the latest first</span>
      </div>
      <Problem of={audit} />
      <form class="toolbar" onSubmit={(event) => event.preventDefault()}>
        <label>
          Time{' '}
          <select
            value={hours.value}
            onChange={(event) => {
              hours.value = Number(event.currentTarget.value)
              audit.refresh().catch(() => undefined)
            }}
          >
            {periods.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Principal{' '}
          <input
            id="principal"
            maxLength={256}
            value={principal.value}
            onInput={(event) => {
              principal.value = event.currentTarget.value
              audit.refresh().catch(() => undefined)
            }}
          />
        </label>
      </form>
      {page?.cursor !== undefined && (
        <p class="quiet">These are the latest {MOST} entries of this time. There are older ones.</p>
      )}
      {page?.entries.length === 0 && (
        <p class="quiet">
          Nothing was recorded in this time. Pauses, resumes, cancels, answers, holds, changes of
          keys and refused requests are recorded.
        </p>
      )}
      {page !== undefined && page.entries.length > 0 && <Entries entries={page.entries} />}
    </>
  )
}

function Entries({ entries }: { readonly entries: readonly AuditSummary[] }) {
  return (
    <section class="panel" aria-label="Entries">
      <table class="fold-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">To what</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, index) => (
            <tr key={index} data-outcome={entry.outcome === 'done' ? 'done' : 'failed'}>
              <td>
                <When at={entry.at} />
              </td>
              <td data-name="Who">{who(entry)}</td>
              <td data-name="What">{entry.action}</td>
              <td data-name="To what">
                {entry.taskId !== undefined && <TaskLink taskId={entry.taskId} />} {entry.target}
              </td>
              <td class="outcome" data-name="Outcome">
                {entry.outcome}
                {entry.further !== undefined && `, ${entry.further} more times`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function who({ tenant, principal: name, credential, from, operator }: AuditSummary): string {
  if (name === undefined) return from ?? 'unknown'
  const key = credential === undefined ? '' : `, key ${credential}`
  return `${tenant}/${name}${operator === true ? ', operator' : ''}${key}`
}
