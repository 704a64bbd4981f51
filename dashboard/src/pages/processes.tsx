/** The processes that share the store: who is alive, what each runs. */
import { Fragment } from 'preact'
import type { QueueSummary, WorkerSummary } from '../../../src/wire/ops/server.ts'
import { Age } from '../parts/times.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { ops } from '../server.ts'

const processes = createPolled(() => ops().workers())
const queues = createPolled(() => ops().queues())

export function Processes() {
  usePolled(processes)
  usePolled(queues)
  const all = processes.value.value
  return (
    <>
      <div class="head">
        <h1>Processes</h1>
        <span class="sub">who serves this store</span>
      </div>
      <Problem of={processes} />
      {all === undefined && <p class="quiet">Loading…</p>}
      <ul class="blocks">
        {all?.map((one) => (
          <Process key={one.id} one={one} />
        ))}
      </ul>
      <Queues all={queues.value.value ?? []} />
      {all?.length === 1 && (
        <p class="quiet">
          One process serves this store. With <code>LULL_POSTGRES</code> any number of processes
          share one, and the tasks of a process that dies go on in the others.
        </p>
      )}
    </>
  )
}

function Queues({ all }: { readonly all: readonly QueueSummary[] }) {
  if (all.length === 0) return null
  return (
    <section class="panel block" aria-label="Agents of this process">
      <header>
        <h2>Agents of this process</h2>
      </header>
      <dl class="rows">
        {all.map(({ agent, limit, used, waiting = 0 }) => (
          <Fragment key={agent}>
            <dt>{agent}</dt>
            <dd>
              {used === undefined ? `at most ${limit} tasks` : `${used} of ${limit} tasks run`}
              {waiting > 0 && `, ${waiting} wait`}
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  )
}

function Process({ one }: { readonly one: WorkerSummary }) {
  const { id, here, alive, draining, agents, host, pid, running, startedAt, heartbeatAt } = one
  return (
    <li class="panel block">
      <header>
        <h2>{host === undefined ? id : `${host}, process ${pid}`}</h2>
        {alive ? (
          <span class={draining ? 'tag stop' : 'tag run'}>{draining ? 'draining' : 'running'}</span>
        ) : (
          <span class="tag fail">gone: its tasks go on elsewhere</span>
        )}
        {here && <span class="push">answers this page</span>}
      </header>
      <dl class="rows">
        {running !== undefined && (
          <>
            <dt>Runs</dt>
            <dd>{running === 1 ? '1 task' : `${running} tasks`}</dd>
          </>
        )}
        <dt>Agents</dt>
        <dd>{agents.join(', ')}</dd>
        {startedAt !== undefined && (
          <>
            <dt>Started</dt>
            <dd>
              <Age since={startedAt} /> ago
            </dd>
          </>
        )}
        {heartbeatAt !== undefined && (
          <>
            <dt>Last sign of life</dt>
            <dd>
              <Age since={heartbeatAt} /> ago
            </dd>
          </>
        )}
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
    </li>
  )
}
