/**
 * Acts on many tasks: chosen in the table, shown before they are done, and told one by one.
 *
 * B1  The preview says how many tasks an act reaches, by state, and which it leaves out and why.
 * B2  One task that refuses stops no other. It stays chosen, and its reason is shown.
 */
import { signal, useSignal } from '@preact/signals'
import type { TaskFilter } from '../../../src/client/ops-requests.ts'
import type { TaskList, TaskSummary } from '../../../src/wire/ops/tasks.ts'
import { actsOn, lacking, type TaskAct } from '../acts.ts'
import { lookOf } from '../looks.ts'
import { messageOf, ops } from '../server.ts'
import { loadHolds } from '../tasks.ts'
import { Act, jsonIn, textIn } from './act.tsx'
import { JsonField, Problem, TextField } from './field.tsx'
import { StateMark } from './marks.tsx'

export const chosen = signal<ReadonlyMap<string, TaskSummary>>(new Map())
/** Why tasks of the last act refused it. */
const refusals = signal<readonly string[]>([])

/** How many tasks one act takes. */
const MOST = 1_000
/** How many requests are under way at the same time. */
const AT_ONCE = 8
/** How many refusals are shown. */
const SHOWN = 5

export function forget(): void {
  chosen.value = new Map()
  refusals.value = []
}

export function toggle(task: TaskSummary): void {
  const next = new Map(chosen.value)
  if (!next.delete(task.taskId)) next.set(task.taskId, task)
  chosen.value = next
}

export function chooseAll(tasks: readonly TaskSummary[], on: boolean): void {
  const next = new Map(chosen.value)
  for (const task of tasks) {
    if (on) next.set(task.taskId, task)
    else next.delete(task.taskId)
  }
  chosen.value = next
}

/** Chooses what the filter matches, on every page, up to `MOST`. */
async function chooseMatching(filter: TaskFilter): Promise<void> {
  let cursor: string | undefined
  const found = new Map<string, TaskSummary>()
  do {
    const page = await ops().tasks({ ...filter, cursor, limit: 100, counts: false })
    for (const task of page.tasks) found.set(task.taskId, task)
    cursor = page.cursor
  } while (cursor !== undefined && found.size < MOST)
  chosen.value = found
}

export function Bulk({ list, filter }: { readonly list: TaskList; readonly filter: TaskFilter }) {
  const { size } = chosen.value
  if (size === 0) return null
  const more = list.total > size || list.cursor !== undefined
  return (
    <section class="bulk" aria-label="The chosen tasks">
      <b>{size.toLocaleString()} chosen</b>
      {more && <ChooseMatching list={list} filter={filter} />}
      <span class="acts push wide-acts">
        <Resume />
        <Hold />
        <Cancel />
        <button type="button" class="plain" onClick={forget}>
          Choose none
        </button>
      </span>
      {refusals.value.map((text) => (
        <Problem key={text} text={text} />
      ))}
    </section>
  )
}

function ChooseMatching({
  list,
  filter,
}: {
  readonly list: TaskList
  readonly filter: TaskFilter
}) {
  const busy = useSignal(false)
  const count = Math.min(list.total, MOST).toLocaleString()
  const isExact = list.searched === undefined && list.total <= MOST
  return (
    <button
      type="button"
      class="plain"
      disabled={busy.value}
      onClick={() => {
        busy.value = true
        chooseMatching(filter)
          .catch((error: unknown) => {
            refusals.value = [messageOf(error)]
          })
          .finally(() => {
            busy.value = false
          })
      }}
    >
      {isExact ? `Choose all ${count}` : `Choose the first ${MOST.toLocaleString()} that match`}
    </button>
  )
}

/** B1. Which of the chosen tasks an act reaches. A hold reaches what has not ended. */
function split(act: TaskAct): {
  readonly fit: readonly TaskSummary[]
  readonly out: readonly Left[]
} {
  const fit: TaskSummary[] = []
  const out: Left[] = []
  for (const task of chosen.value.values()) {
    const allowed = actsOn(task)[act]
    if (allowed === undefined) out.push({ task, why: 'its state does not allow it' })
    else if (allowed.refused !== undefined) out.push({ task, why: allowed.refused })
    else if (act === 'resume' && task.held) out.push({ task, why: 'held: lift the hold first' })
    else fit.push(task)
  }
  return { fit, out }
}
interface Left {
  readonly task: TaskSummary
  readonly why: string
}

function Preview({ act, effect }: { readonly act: TaskAct; readonly effect: string }) {
  const { fit, out } = split(act)
  return (
    <ul class="stack-s preview">
      {byLook(fit.map((task) => ({ task, why: effect }))).map((line) => (
        <PreviewLine key={line.id} {...line} />
      ))}
      {byLook(out).map((line) => (
        <PreviewLine key={line.id} {...line} isOut />
      ))}
    </ul>
  )
}

interface Line {
  readonly id: string
  readonly task: TaskSummary
  readonly count: number
  readonly why: string
}

function byLook(tasks: readonly Left[]): readonly Line[] {
  const lines = new Map<string, Line>()
  for (const { task, why } of tasks) {
    const id = `${lookOf(task).word} ${why}`
    lines.set(id, { id, task, why, count: (lines.get(id)?.count ?? 0) + 1 })
  }
  return [...lines.values()]
}

function PreviewLine({ task, count, why, isOut = false }: Line & { readonly isOut?: boolean }) {
  const look = lookOf(task)
  const word = `${count.toLocaleString()} ${look.word.toLowerCase()}`
  const left = count === 1 ? 'is left out: ' : 'are left out: '
  return (
    <li>
      <StateMark look={{ ...look, word }} />{' '}
      <span class="quiet">
        {isOut && left}
        {why}
      </span>
    </li>
  )
}

const counted = (count: number): string =>
  count === 1 ? '1 task' : `${count.toLocaleString()} tasks`
const none = 'None of the chosen tasks allows it.'

function Resume() {
  const { fit } = split('resume')
  return (
    <Act
      label="Resume"
      effect={`Resume ${counted(fit.length)}`}
      refused={fit.length === 0 ? none : undefined}
      about={<Preview act="resume" effect="go on now, without what they wait for" />}
      act={(form) => {
        const input = jsonIn(form, 'input')
        return doEach(fit, (task) =>
          ops().resume(task.taskId, { handle: task.stop?.handle, input }),
        )
      }}
    >
      <JsonField
        label="Input"
        name="input"
        hint="Each task gets the same input as the result of its stop."
      />
    </Act>
  )
}

function Cancel() {
  const { fit } = split('cancel')
  return (
    <Act
      label="Cancel"
      effect={`Cancel ${counted(fit.length)}`}
      kind="danger"
      refused={fit.length === 0 ? none : undefined}
      about={<Preview act="cancel" effect="end for good; this cannot be undone" />}
      act={() => doEach(fit, (task) => ops().cancel(task.taskId))}
    />
  )
}

function Hold() {
  const { fit } = split('cancel')
  return (
    <Act
      label="Hold"
      effect={`Hold ${counted(fit.length)}`}
      refused={fit.length === 0 ? none : lacking('ops:control')}
      about={<Preview act="cancel" effect="stand still until the hold is lifted" />}
      act={async (form) => {
        const taskIds = fit.map(({ taskId }) => taskId)
        await ops().hold({ scope: { taskIds }, reason: textIn(form, 'reason') ?? '' })
        await loadHolds()
        forget()
      }}
    >
      <TextField
        label="Reason"
        name="reason"
        hint="Everybody who sees these tasks reads it."
        required
        maxLength={1_000}
      />
    </Act>
  )
}

/** B2. */
async function doEach(
  tasks: readonly TaskSummary[],
  act: (task: TaskSummary) => Promise<unknown>,
): Promise<void> {
  const left = [...tasks]
  const failed: string[] = []
  const work = async (): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) {
      const { taskId, title } = task
      try {
        await act(task)
        const next = new Map(chosen.value)
        next.delete(taskId)
        chosen.value = next
      } catch (error) {
        failed.push(`${title || taskId}: ${messageOf(error)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const more = failed.length - SHOWN
  refusals.value = [...failed.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])]
}
