/** Does anybody wait for me, is anything wrong, what did the last hours do and cost, what happens next? */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { durationText } from '../../../src/core/values/duration.ts'
import type { Overview as Figures } from '../../../src/wire/ops/server.ts'
import type { TaskSummary } from '../../../src/wire/ops/tasks.ts'
import { countOf, groups, looks } from '../looks.ts'
import { Histogram, Meter, StartedAndEnded } from '../parts/charts.tsx'
import { Link } from '../parts/link.tsx'
import { AllDone, Shape, StateShape } from '../parts/marks.tsx'
import { Age, Until } from '../parts/times.tsx'
import { Welcome } from '../parts/welcome.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { query } from '../router.ts'
import { ops } from '../server.ts'
import { asked, counts, total } from '../tasks.ts'

const hours = signal(24)
const figures = createPolled(() => ops().overview(hours.peek()))

const periods = [
  [1, '1 h', 'the last hour'],
  [6, '6 h', 'the last 6 hours'],
  [24, '24 h', 'the last 24 hours'],
  [168, '7 d', 'the last 7 days'],
] as const

/** Counting costs more than reading a page of tasks. */
const REFRESH_MS = 15_000

export function Overview() {
  const wanted = Number(query.value['hours'] ?? 24)
  const period = periods.find(([one]) => one === wanted) ?? periods[2]
  usePolled(figures, REFRESH_MS)
  useEffect(() => {
    hours.value = period[0]
    figures.refresh().catch(() => undefined)
  }, [period[0]])
  if (total.value === 0) return <Welcome title="Overview" />
  const shown = figures.value.value
  return (
    <>
      <div class="head">
        <h1>Overview</h1>
        <span class="sub">{period[2]}</span>
        <div class="acts">
          <nav class="seg" aria-label="Span of time">
            {periods.map(([one, text]) => (
              <Link
                key={one}
                to={{ page: 'overview', query: one === 24 ? {} : { hours: `${one}` } }}
                current={one === period[0]}
              >
                {text}
              </Link>
            ))}
          </nav>
        </div>
      </div>
      <Problem of={figures} />
      {shown !== undefined && <Panels shown={shown} />}
    </>
  )
}

function Panels({ shown }: { readonly shown: Figures }) {
  return (
    <>
      <People shown={shown} />
      <Numbers shown={shown} />
      <div class="two wide-left">
        <section class="panel" aria-label="Started and ended">
          <StartedAndEnded spans={shown.spans} isCut={shown.isCut} />
        </section>
        <Failures shown={shown} />
      </div>
      <div class="three">
        <Costs shown={shown} />
        <Parked shown={shown} />
        <Wakes wakes={shown.wakes} />
      </div>
    </>
  )
}

function People({ shown: { asking } }: { readonly shown: Figures }) {
  const [oldest] = asking.oldest
  if (oldest === undefined) {
    return (
      <section class="panel" aria-label="Waiting for people">
        <div class="empty">
          <AllDone />
          <h2>Nobody waits for you</h2>
        </div>
      </section>
    )
  }
  const more = asked.value - asking.oldest.length
  return (
    <section class="panel people" aria-label="Waiting for people">
      <div class="stack-s">
        <h2 class="quiet">Waiting for people</h2>
        <p class="row">
          <span class="big">{asked.value.toLocaleString()}</span>
          <span class="quiet small">
            {asked.value === 1 ? 'task asks' : 'tasks ask'}
            <br />a person
          </span>
        </p>
        <p class="small quiet">
          Oldest:{' '}
          <b>
            <Age since={oldest.since} />
          </b>
        </p>
        <p>
          <Link class="btn primary" to={{ page: 'waiting' }}>
            Answer them
          </Link>
        </p>
      </div>
      <Histogram waits={asking.waits} />
      <ul>
        {asking.oldest.map((task) => (
          <Named key={task.taskId} task={task}>
            <Age since={task.since} />
          </Named>
        ))}
        {more > 0 && (
          <li>
            <span />
            <Link to={{ page: 'waiting' }}>{more.toLocaleString()} more</Link>
            <span />
          </li>
        )}
      </ul>
    </section>
  )
}

function Named({
  task,
  children,
}: {
  readonly task: TaskSummary
  readonly children: preact.ComponentChildren
}) {
  return (
    <li>
      <StateShape task={task} />
      <Link to={{ page: 'task', taskId: task.taskId }}>{task.title || task.taskId}</Link>
      <span class="quiet nowrap">{children}</span>
    </li>
  )
}

function Numbers({ shown }: { readonly shown: Figures }) {
  const sum = (name: 'started' | 'completed' | 'failed' | 'canceled'): number =>
    shown.spans.reduce((all, span) => all + span[name], 0)
  const [failed, ended] = [sum('failed'), sum('completed') + sum('failed') + sum('canceled')]
  const cost = shown.agents.reduce((all, { costUsd }) => all + costUsd, 0)
  const tokens = shown.agents.reduce((all, one) => all + one.tokens, 0)
  const now = counts.value
  const stopped = groups.find(({ id }) => id === 'stop')?.states ?? []
  return (
    <dl class="figures-row">
      <Figure name="Started" value={sum('started')} more={shown.isCut ? 'at least' : undefined} />
      <Figure
        name="Completed"
        look="completed"
        value={sum('completed')}
        more={shown.medianMs === undefined ? undefined : `half in ${durationText(shown.medianMs)}`}
      />
      <Figure
        name="Failed"
        look="failed"
        value={failed}
        more={
          <Link to={{ page: 'tasks', query: { show: 'fail' } }}>
            {ended === 0 ? 'none ended' : `${((100 * failed) / ended).toFixed(1)} % of ended`}
          </Link>
        }
      />
      <Figure
        name="Working now"
        look="working"
        value={now['working'] ?? 0}
        more={`${(now['submitted'] ?? 0).toLocaleString()} in the queue`}
      />
      <Figure
        name="Stopped now"
        look="paused-by-agent"
        value={countOf(now, stopped)}
        more={`${(now['paused-by-agent'] ?? 0).toLocaleString()} parked, ${(now['paused-by-client'] ?? 0).toLocaleString()} paused`}
      />
      <Figure name="Cost" value={`$${cost.toFixed(2)}`} more={`${short(tokens)} tokens`} />
    </dl>
  )
}

function Figure({
  name,
  value,
  look,
  more,
}: {
  readonly name: string
  readonly value: number | string
  readonly look?: keyof typeof looks
  readonly more?: preact.ComponentChildren
}) {
  return (
    <div>
      <dt>
        {look !== undefined && <Shape {...looks[look]} />}
        {name}
      </dt>
      <dd>
        {value.toLocaleString()} <small>{more}</small>
      </dd>
    </div>
  )
}

const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const short = (count: number): string => compact.format(count)

function Failures({ shown: { failures } }: { readonly shown: Figures }) {
  const most = Math.max(1, ...failures.map(({ tasks }) => tasks))
  return (
    <section class="panel" aria-label="Why tasks failed">
      <header>
        <h2>Why tasks failed</h2>
      </header>
      <div class="pad">
        {failures.length === 0 && <p class="quiet">No task failed.</p>}
        <ul class="stack">
          {failures.map(({ agent, text, tasks }) => (
            <Meter key={`${agent} ${text}`} share={tasks / most} fill="c-fail" value={`${tasks}`}>
              <Link to={{ page: 'tasks', query: { show: 'fail', agent } }}>
                {agent}: {text}
              </Link>
            </Meter>
          ))}
        </ul>
      </div>
    </section>
  )
}

function Costs({ shown: { agents, read } }: { readonly shown: Figures }) {
  const most = Math.max(0.000_001, ...agents.map(({ costUsd, tokens }) => costUsd || tokens))
  return (
    <section class="panel" aria-label="Cost by agent">
      <header>
        <h2>Cost by agent</h2>
        <span class="push">of the {read.toLocaleString()} tasks that changed last</span>
      </header>
      <div class="pad">
        {agents.length === 0 && <p class="quiet">No task reported what it used.</p>}
        <ul class="stack">
          {agents.map(({ agent, costUsd, tokens }) => (
            <Meter
              key={agent}
              share={(costUsd || tokens) / most}
              fill="c-accent"
              value={`$${costUsd.toFixed(2)}`}
              aside={short(tokens)}
            >
              {agent}
            </Meter>
          ))}
        </ul>
      </div>
    </section>
  )
}

function Parked({ shown: { waitsFor } }: { readonly shown: Figures }) {
  const most = Math.max(1, ...waitsFor.map(({ tasks }) => tasks))
  return (
    <section class="panel" aria-label="Stopped, by what they wait for">
      <header>
        <h2>Stopped, by what they wait for</h2>
      </header>
      <div class="pad">
        {waitsFor.length === 0 && <p class="quiet">No task is parked or paused.</p>}
        <ul class="stack">
          {waitsFor.map(({ name, tasks }) => (
            <Meter key={name} share={tasks / most} fill="c-stop" value={tasks.toLocaleString()}>
              {name.includes(' ') ? name : <code>{name}</code>}
            </Meter>
          ))}
        </ul>
      </div>
    </section>
  )
}

function Wakes({ wakes }: { readonly wakes: readonly TaskSummary[] }) {
  return (
    <section class="panel" aria-label="Next wakes">
      <header>
        <h2>Next wakes</h2>
        <span class="push">by the clock</span>
      </header>
      {wakes.length === 0 && <p class="pad quiet">Nothing falls due.</p>}
      <ul class="wakes">
        {wakes.map((task) => (
          <li key={task.taskId}>
            {task.dueAt !== undefined && <Until at={task.dueAt} />}
            <Link class="cut" to={{ page: 'task', taskId: task.taskId }}>
              {task.title || task.taskId}
            </Link>
            <span class="quiet small">{task.question === undefined ? 'wakes' : 'expires'}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
