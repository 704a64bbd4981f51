/** One task: where it is and why it stands, who did what, what came out, and whether the record can be trusted. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { lookOf } from '../looks.ts'
import { Actions } from '../parts/actions.tsx'
import { AnotherWay } from '../parts/another-way.tsx'
import { Artifacts } from '../parts/artifacts.tsx'
import { Conversation, useWholeTask } from '../parts/conversation.tsx'
import { HeldNotice } from '../parts/held-notice.tsx'
import { Link, TaskLink } from '../parts/link.tsx'
import { HeldMark, StateMark } from '../parts/marks.tsx'
import { NowPanel } from '../parts/now-panel.tsx'
import { type Fate, QuestionCard, questionKey, Settled } from '../parts/question.tsx'
import { Receipts } from '../parts/receipts.tsx'
import { Timeline, useTimeline } from '../parts/timeline.tsx'
import { Age } from '../parts/times.tsx'
import { Webhooks } from '../parts/webhooks.tsx'
import { messageOf, who } from '../server.ts'
import { type Known, load, taskOf } from '../tasks.ts'

const refusal = signal<string | undefined>(undefined)

export function TaskPage({ taskId }: { readonly taskId: string }) {
  useEffect(() => {
    refusal.value = undefined
    load(taskId).catch((error: unknown) => {
      refusal.value = messageOf(error)
    })
  }, [taskId])
  useTimeline(taskId)
  const task = taskOf(taskId)
  if (task !== undefined) return <Shown task={task} />
  if (refusal.value === undefined) return <p class="quiet">Loading…</p>
  return (
    <section class="panel" aria-label="No such task">
      <div class="empty" role="alert">
        <h1>There is no such task that you may see</h1>
        <p class="quiet">{refusal.value}</p>
        <p class="quiet">It may belong to somebody else, or its time of keeping is over.</p>
        <p>
          <Link to={{ page: 'tasks' }}>Find a task</Link>
        </p>
      </div>
    </section>
  )
}

function Shown({ task }: { readonly task: Known }) {
  const { taskId, version } = task
  const whole = useWholeTask(task)
  return (
    <>
      <Head task={task} />
      <HeldNotice task={task} />
      <div class="task" data-state={task.state}>
        <div>
          <Asked key={questionKey(task)} task={task} />
          <NowPanel task={task} />
          <Timeline />
          {whole !== undefined && <Conversation task={task} whole={whole} />}
        </div>
        <div>
          <Artifacts artifacts={whole?.artifacts ?? []} />
          <Receipts taskId={taskId} version={version} />
          <AnotherWay task={task} />
          <Webhooks taskId={taskId} version={version} />
          <About task={task} />
        </div>
      </div>
    </>
  )
}

function Head({ task }: { readonly task: Known }) {
  const { taskId, agent, title, turn, usage } = task
  const tokens = (usage['inputTokens'] ?? 0) + (usage['outputTokens'] ?? 0)
  return (
    <div class="task-head">
      <p class="small">
        <Link to={{ page: 'tasks' }}>Tasks</Link> <span class="quiet">/ {agent}</span>
      </p>
      <div class="head">
        <h1>{title || taskId}</h1>
        <div class="acts">
          <Actions task={task} />
        </div>
      </div>
      <div class="facts">
        <StateMark look={lookOf(task)} />
        {task.held && <HeldMark />}
        <span>
          for <Age since={task.since} />
        </span>
        <span>turn {turn}</span>
        {tokens > 0 && <span>{tokens.toLocaleString()} tokens</span>}
        {usage['costUsd'] ? <span>${usage['costUsd'].toFixed(4)}</span> : null}
        <span>started by {task.principal}</span>
        <code>{taskId}</code>
      </div>
    </div>
  )
}

const fate = signal<{ of: string; fate: Fate; note: string | undefined } | undefined>(undefined)

function Asked({ task }: { readonly task: Known }) {
  const asked = questionKey(task)
  const isAsked = task.question !== undefined && task.state.endsWith('-required')
  if (!isAsked) return null
  const own = fate.value?.of === asked ? fate.value.fate : 'open'
  return (
    <>
      <Settled task={task} fate={own} note={fate.value?.note} />
      <div hidden={own !== 'open'}>
        <QuestionCard
          task={task}
          alone
          onFate={(to, note) => {
            fate.value = { of: asked, fate: to, note }
          }}
        />
      </div>
    </>
  )
}

/** The trace in which the task was started or went on last. The configuration says where it is shown. */
function Trace({ task: { traceId } }: { readonly task: Known }) {
  if (traceId === undefined) return null
  const address = who.value?.traceUrl?.replaceAll('{traceId}', encodeURIComponent(traceId))
  const id = <code>{traceId}</code>
  return (
    <>
      <dt>Trace</dt>
      <dd>
        {address === undefined ? (
          id
        ) : (
          <a href={address} rel="noopener noreferrer">
            {id}
          </a>
        )}
      </dd>
    </>
  )
}

function About({ task }: { readonly task: Known }) {
  const { taskId, contextId, parentId, forkedFrom, tenant, principal } = task
  return (
    <section class="panel" aria-label="About">
      <header>
        <h2>About</h2>
      </header>
      <div class="pad">
        <dl class="rows small">
          <dt>Task</dt>
          <dd>
            <code>{taskId}</code>
          </dd>
          <dt>Context</dt>
          <dd>
            <Link to={{ page: 'tasks', query: { contextId } }}>
              <code>{contextId}</code>
            </Link>
          </dd>
          <dt>Tenant</dt>
          <dd>{tenant}</dd>
          <dt>Started by</dt>
          <dd>{principal}</dd>
          <Trace task={task} />
          {parentId !== undefined && (
            <>
              <dt>Parent</dt>
              <dd>
                <TaskLink taskId={parentId} />
              </dd>
            </>
          )}
          {forkedFrom !== undefined && (
            <>
              <dt>Forked from</dt>
              <dd>
                <TaskLink taskId={forkedFrom} />
              </dd>
            </>
          )}
        </dl>
      </div>
    </section>
  )
}
