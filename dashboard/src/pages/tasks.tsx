/** Tasks as a table, for thousands: filters and page are in the address, so that a view can be sent. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { TaskList, TaskOrder, TaskSummary } from '../../../src/wire/ops/tasks.ts'
import { countOf, groups, isState, lookOf, looks } from '../looks.ts'
import { Bulk, chooseAll, chosen, forget, toggle } from '../parts/bulk.tsx'
import { Link } from '../parts/link.tsx'
import { HeldMark, Shape, StateMark } from '../parts/marks.tsx'
import { Looks } from '../parts/seg.tsx'
import { Age } from '../parts/times.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { narrow, type Query, query } from '../router.ts'
import { ops } from '../server.ts'
import { counts } from '../tasks.ts'

const PAGE = 100

/** What the heads of the table sort by. Absent from the address: the latest change first. */
const orders = [
  'changed',
  'state',
  '-state',
  'agent',
  '-agent',
] as const satisfies readonly TaskOrder[]

/** The cursors of the pages that were read, so that Previous leads back. */
const cursors = signal<readonly (string | undefined)[]>([undefined])

const list = createPolled(() => readPage(query.peek()))
const agents = createPolled(() => ops().agents())

async function readPage(asked: Query): Promise<TaskList> {
  const sort = orders.find((one) => one === asked['sort'])
  return ops().tasks({ ...filterIn(asked), sort, cursor: asked['after'], limit: PAGE })
}

/** The filter that the address names. */
export function filterIn({ show, agent, contextId, q }: Query) {
  const states =
    groups.find(({ id }) => id === show)?.states ?? (show && isState(show) ? [show] : [])
  return {
    ...(states.length > 0 && { states }),
    ...(show === 'held' && { held: true }),
    ...(agent && { agent }),
    ...(contextId && { contextId }),
    ...(q?.trim() && { q }),
  }
}

export function Tasks() {
  usePolled(list)
  usePolled(agents)
  const asked = query.value
  const address = JSON.stringify(asked)
  useEffect(() => {
    list.refresh().catch(() => undefined)
  }, [address])
  useEffect(() => {
    cursors.value = [undefined]
    forget()
  }, [asked['q'], asked['show'], asked['agent'], asked['contextId'], asked['sort']])
  const shown = list.value.value
  return (
    <>
      <div class="head">
        <h1>Tasks</h1>
        <span class="sub">{shown === undefined ? '' : matchText(shown)}</span>
        <div class="acts">
          <Looks />
        </div>
      </div>
      <Problem of={list} />
      <Filters />
      {shown?.tasks.length === 0 ? <Nothing /> : <Table tasks={shown?.tasks ?? []} list={shown} />}
    </>
  )
}

function matchText({ total, searched, cursor }: TaskList): string {
  const count = total.toLocaleString()
  if (searched === undefined) return total === 1 ? '1 task' : `${count} tasks`
  if (cursor === undefined) return `${count} found. Every task was searched.`
  return `${count} found in the latest ${searched.toLocaleString()} tasks`
}

function Filters() {
  const { show = '', agent = '', contextId } = query.value
  const known = list.value.value?.counts ?? counts.value
  const all = countOf(known, Object.keys(known))
  return (
    <>
      <div class="toolbar">
        <label class="hidden" htmlFor="f-agent">
          Agent
        </label>
        <select
          id="f-agent"
          value={agent}
          onChange={(event) =>
            narrow({ agent: event.currentTarget.value, after: undefined, page: undefined })
          }
        >
          <option value="">Every agent</option>
          {agents.value.value?.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {contextId && (
          <button type="button" onClick={() => narrow({ contextId: undefined })}>
            Context {contextId.slice(-8)}: show every context
          </button>
        )}
        <span class="push small quiet">Every filter is in the address</span>
      </div>
      <nav class="chips" aria-label="State">
        <Chip show="" isOn={show === ''}>
          All <span class="quiet">{all.toLocaleString()}</span>
        </Chip>
        {groups.map(({ id, title, shape, states }) => (
          <Chip key={id} show={id} isOn={show === id}>
            <Shape shape={shape} tone={id} />
            {title} <span class="quiet">{countOf(known, states).toLocaleString()}</span>
          </Chip>
        ))}
        <Chip show="canceled" isOn={show === 'canceled'}>
          <Shape {...looks.canceled} />
          Canceled <span class="quiet">{(known['canceled'] ?? 0).toLocaleString()}</span>
        </Chip>
        <Chip show="held" isOn={show === 'held'}>
          <Shape shape="held" tone="off" />
          Held
        </Chip>
      </nav>
    </>
  )
}

function Chip(props: {
  readonly show: string
  readonly isOn: boolean
  readonly children: preact.ComponentChildren
}) {
  const to = { ...query.value, show: props.show, after: undefined, page: undefined }
  return (
    <Link class="chip" to={{ page: 'tasks', query: to }} current={props.isOn}>
      {props.children}
    </Link>
  )
}

/** Names the narrowest filter, which can be dropped alone. */
function Nothing() {
  const asked = query.value
  const filters = (['q', 'show', 'agent', 'contextId'] as const).filter((name) => asked[name])
  const [narrowest] = filters
  return (
    <section class="panel" aria-label="No task">
      <div class="empty">
        <h2>{filters.length === 0 ? 'No task yet' : 'No task matches'}</h2>
        {narrowest !== undefined && (
          <div class="acts">
            <button type="button" onClick={() => narrow({ [narrowest]: undefined })}>
              Drop “{asked[narrowest]}”
            </button>
            <Link to={{ page: 'tasks' }}>Drop all filters</Link>
          </div>
        )}
      </div>
    </section>
  )
}

function Table({
  tasks,
  list: shown,
}: {
  readonly tasks: readonly TaskSummary[]
  readonly list: TaskList | undefined
}) {
  const areAll = tasks.length > 0 && tasks.every(({ taskId }) => chosen.value.has(taskId))
  return (
    <section class="panel" aria-label="Tasks">
      {shown !== undefined && <Bulk list={shown} filter={filterIn(query.value)} />}
      <table class="list fold-table">
        <caption class="hidden">Tasks, the latest change first</caption>
        <thead>
          <tr>
            <th class="c-box" scope="col">
              <label class="tick">
                <input
                  type="checkbox"
                  checked={areAll}
                  onChange={() => chooseAll(tasks, !areAll)}
                />
                <span class="hidden">Choose this page</span>
              </label>
            </th>
            <Head class="c-state" up="state" down="-state">
              State
            </Head>
            <th class="c-task" scope="col">
              Task
            </th>
            <th class="c-why" scope="col">
              What it waits for or says
            </th>
            <Head class="c-agent" up="agent" down="-agent">
              Agent
            </Head>
            <th class="c-turn num" scope="col">
              Turn
            </th>
            <Head class="c-age num" up={undefined} down="changed">
              Age
            </Head>
            <th class="c-cost num" scope="col">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <Row key={task.taskId} task={task} />
          ))}
        </tbody>
      </table>
      {shown !== undefined && <Pager list={shown} />}
    </section>
  )
}

/** A head that sorts: first up, then down. A search has an order of its own. */
function Head(props: {
  readonly class: string
  readonly up: TaskOrder | undefined
  readonly down: TaskOrder
  readonly children: string
}) {
  const { up, down, children } = props
  const { sort, q } = query.value
  const isUp = sort === up
  const isDown = sort === down
  const to = { ...query.value, sort: isUp ? down : up, after: undefined, page: undefined }
  if (q) {
    return (
      <th class={props.class} scope="col">
        {children}
      </th>
    )
  }
  return (
    <th
      class={props.class}
      scope="col"
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}
    >
      <Link to={{ page: 'tasks', query: to }}>
        {children}
        {isUp && ' ↑'}
        {isDown && ' ↓'}
      </Link>
    </th>
  )
}

function Row({ task }: { readonly task: TaskSummary }) {
  const { taskId, title, says, agent, turn, since, usage, held } = task
  return (
    <tr data-item="task" data-state={task.state}>
      <td class="box">
        <label class="tick">
          <input type="checkbox" checked={chosen.value.has(taskId)} onChange={() => toggle(task)} />
          <span class="hidden">Choose {title || taskId}</span>
        </label>
      </td>
      <td class="state-c">
        <span class="row wrap">
          <StateMark look={lookOf(task)} />
          {held && <HeldMark />}
        </span>
      </td>
      <td class="task-c">
        <Link class="t cut" to={{ page: 'task', taskId }} title={title || taskId}>
          {title || taskId}
        </Link>
      </td>
      <td class="why-c">
        <span class="why cut">{says}</span>
      </td>
      <td class="agent">
        <span class="cut">{agent}</span>
      </td>
      <td class="num turn">{turn}</td>
      <td class="num age">
        <Age since={since} />
      </td>
      <td class="num cost">{usage['costUsd'] ? `$${usage['costUsd'].toFixed(2)}` : '–'}</td>
    </tr>
  )
}

function Pager({ list: { tasks, total, cursor, searched } }: { readonly list: TaskList }) {
  const number = Math.max(1, Number(query.value['page'] ?? 1) || 1)
  const from = (number - 1) * PAGE + 1
  const of = searched === undefined ? ` of ${total.toLocaleString()}` : ''
  const move = (to: number, after: string | undefined): void =>
    narrow({ page: to === 1 ? undefined : `${to}`, after })
  return (
    <footer class="pager">
      <span>
        {from.toLocaleString()}–{(from + tasks.length - 1).toLocaleString()}
        {of}
      </span>
      <span class="quiet">{PAGE} a page</span>
      <span class="acts push">
        {number > 1 && (
          <button
            type="button"
            onClick={() =>
              cursors.value.length >= number
                ? move(number - 1, cursors.value[number - 2])
                : move(1, undefined)
            }
          >
            {cursors.value.length >= number ? 'Previous' : 'First page'}
          </button>
        )}
        {cursor !== undefined && (
          <button
            type="button"
            onClick={() => {
              cursors.value = [...cursors.value.slice(0, number), cursor]
              move(number + 1, cursor)
            }}
          >
            Next
          </button>
        )}
      </span>
    </footer>
  )
}
