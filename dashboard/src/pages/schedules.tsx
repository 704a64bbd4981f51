/** Schedules: when each starts a task next, what it started last, pausing it, and starting one now. */
import { Fragment } from 'preact'
import type { ScheduleSummary } from '../../../src/wire/ops/control.ts'
import { Act } from '../parts/act.tsx'
import { TaskLink } from '../parts/link.tsx'
import { Age, Until } from '../parts/times.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { go } from '../router.ts'
import { ops } from '../server.ts'

const schedules = createPolled(() => ops().schedules())

const example = `agent({
  name: 'digest',
  schedule: [{ name: 'nightly', cron: '0 3 * * *', message: 'Write the digest' }],
  …`

export function Schedules() {
  usePolled(schedules)
  const all = schedules.value.value
  return (
    <>
      <div class="head">
        <h1>Schedules</h1>
        <span class="sub">what starts by the clock</span>
      </div>
      <Problem of={schedules} />
      {all === undefined && <p class="quiet">Loading…</p>}
      {all?.length === 0 && (
        <>
          <p class="quiet">No agent has a schedule. Give one to an agent in its code:</p>
          <pre>{example}</pre>
        </>
      )}
      <ul class="blocks">
        {all?.map((one) => (
          <Schedule key={one.scheduleId} one={one} />
        ))}
      </ul>
    </>
  )
}

function Schedule({ one }: { readonly one: ScheduleSummary }) {
  const { scheduleId, times, paused, pausedBy = 'an operator', nextAt, lastAt, lastTaskId } = one
  const then = (work: Promise<unknown>) => work.then(schedules.refresh)
  return (
    <li class="panel block">
      <header>
        <h2>{one.name}</h2>
        <span class="quiet">{one.agent}</span>
        {paused && <span class="tag stop">paused by {pausedBy}</span>}
        <code class="push">{times}</code>
      </header>
      <dl class="rows">
        <dt>Next</dt>
        <dd>{nextAt === undefined ? 'not before it is resumed' : <Until at={nextAt} />}</dd>
        <dt>Last</dt>
        <dd>
          {lastAt === undefined ? (
            'never'
          ) : (
            <>
              <Age since={lastAt} /> ago
            </>
          )}{' '}
          {lastTaskId !== undefined && <TaskLink taskId={lastTaskId} />}
        </dd>
        {one.failed?.map(({ time, attempts, why, retryAt }) => (
          <Fragment key={time}>
            <dt>Failed</dt>
            <dd>
              {time}, tried {attempts === 1 ? 'once' : `${attempts} times`}: {why}{' '}
              {retryAt === undefined ? '(given up)' : <Until at={retryAt} />}
            </dd>
          </Fragment>
        ))}
        <dt>Missed times</dt>
        <dd>{one.missed === 'skip' ? 'are left out' : 'start one task'}</dd>
      </dl>
      <div class="acts">
        <Act
          label="Run now"
          kind="primary"
          about={`Starts a task of ${scheduleId} now. Its times stay as they are.`}
          act={async () => {
            const { taskId } = await ops().runSchedule(scheduleId)
            if (taskId !== undefined) go({ page: 'task', taskId })
          }}
        />
        {paused ? (
          <Act
            key="resume"
            label="Resume"
            about="The schedule goes on with its next time."
            act={() => then(ops().resumeSchedule(scheduleId))}
          />
        ) : (
          <Act
            key="pause"
            label="Pause"
            about="No time of the schedule starts a task until it is resumed. Running tasks go on."
            act={() => then(ops().pauseSchedule(scheduleId))}
          />
        )}
      </div>
    </li>
  )
}
