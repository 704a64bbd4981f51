/** The processes that share the store, and how busy they are. */

import type { WorkerSummary } from '../../../src/wire/ops/server.ts'
import { countOf } from '../looks.ts'
import { createPolled } from '../polled.tsx'
import { ops } from '../server.ts'
import { counts, holdsInEffect } from '../tasks.ts'
import { Shape } from './marks.tsx'
import { countStuck } from './stuck.tsx'
import { Age } from './times.tsx'

export const processes = createPolled(() => ops().workers())

export function MachineFigures() {
  const all = processes.value.value ?? []
  const draining = all.filter((one) => one.draining).length
  const gone = all.filter(({ alive }) => !alive).length
  const now = counts.value
  const [stuck, kinds] = countStuck()
  return (
    <dl class="figures-row ops-row">
      <div>
        <dt>Processes</dt>
        <dd>
          {all.length}{' '}
          <small>
            {all.length - draining - gone} running, {draining} draining
            {gone > 0 && `, ${gone} gone`}
          </small>
        </dd>
      </div>
      <div>
        <dt>
          <Shape shape="working" tone="run" />
          Working
        </dt>
        <dd>{countOf(now, ['working'])}</dd>
      </div>
      <div>
        <dt>
          <Shape shape="submitted" tone="run" />
          In the queue
        </dt>
        <dd>{countOf(now, ['submitted'])}</dd>
      </div>
      <div>
        <dt>
          <Shape shape="unreadable" tone="fail" />
          Stuck
        </dt>
        <dd>
          {stuck} {kinds > 0 && <small>of {kinds === 1 ? '1 kind' : `${kinds} kinds`}</small>}
        </dd>
      </div>
      <div>
        <dt>
          <Shape shape="held" tone="off" />
          Holds
        </dt>
        <dd>{holdsInEffect.value.length}</dd>
      </div>
    </dl>
  )
}

export function ProcessTable() {
  const all = processes.value.value
  if (all === undefined) return null
  const draining = all.find((one) => one.draining)
  return (
    <section class="panel" aria-label="Processes">
      <header>
        <h2>Processes</h2>
        <span class="push">a process that dies loses nothing: its tasks go on in the others</span>
      </header>
      <table class="fold-table">
        <thead>
          <tr>
            <th scope="col">Process</th>
            <th scope="col">State</th>
            <th scope="col" class="num">
              Runs
            </th>
            <th scope="col">Agents</th>
            <th scope="col" class="num">
              Seen
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((one) => (
            <Process key={one.id} one={one} />
          ))}
        </tbody>
      </table>
      {draining !== undefined && (
        <footer>
          What a draining process does not finish goes on in another one. Parked tasks are not
          touched.
        </footer>
      )}
    </section>
  )
}

function Process({ one }: { readonly one: WorkerSummary }) {
  const { id, here, alive, draining, agents, host, pid, running, heartbeatAt } = one
  const state = alive ? (draining ? 'draining' : 'running') : 'gone: its tasks go on elsewhere'
  const tone = alive ? (draining ? 'stop' : 'run') : 'fail'
  return (
    <tr>
      <td>
        <code title={id}>{host === undefined ? id : `${host}, process ${pid}`}</code>
        {here && <span class="small quiet"> answers this page</span>}
      </td>
      <td data-name="State">
        <span class={`tag ${tone}`}>{state}</span>
      </td>
      <td class="num" data-name="Runs">
        {running ?? '–'}
      </td>
      <td data-name="Agents">{agents.join(', ')}</td>
      <td class="num" data-name="Seen">
        {heartbeatAt === undefined ? (
          '–'
        ) : (
          <>
            <Age since={heartbeatAt} /> ago
          </>
        )}
      </td>
    </tr>
  )
}
