/**
 * The tasks that the page knows. Lists load them, the change feed keeps them current.
 *
 * T1  A summary never replaces a newer one: answers may arrive out of order.
 * T2  After a lost connection every list is loaded again, because the feed tells nothing of the time in between.
 */
import { computed, signal } from '@preact/signals'
import { isClientError } from '../../src/client/client-error.ts'
import type { TaskList, TaskSummary } from '../../src/wire/ops.ts'
import { key, messageOf, needsKey, ops } from './server.ts'

export interface Column {
  readonly title: string
  readonly states: readonly string[]
  readonly empty: string
}

export const columns: readonly Column[] = [
  {
    title: 'Needs somebody',
    states: ['user-consent-required', 'input-required', 'auth-required'],
    empty: 'Nobody is asked for anything.',
  },
  { title: 'Working', states: ['working', 'submitted'], empty: 'No task runs at the moment.' },
  {
    title: 'Stopped',
    states: ['paused-by-agent', 'paused-by-client'],
    empty: 'No task is parked or paused.',
  },
  { title: 'Completed', states: ['completed'], empty: 'No task has completed yet.' },
  { title: 'Failed', states: ['failed', 'rejected', 'canceled'], empty: 'No task has failed.' },
]

const PAGE = 50
const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 10_000
const COUNTS_MS = 1_000

/** With the instant of this page's clock at which the task falls due, so that a wrong wall clock does no harm. */
export interface Known extends TaskSummary {
  readonly dueOnPage?: number
}

const known = signal<ReadonlyMap<string, Known>>(new Map())
export const counts = signal<Readonly<Record<string, number>>>({})
export const total = signal<number | undefined>(undefined)
/** Undefined while the page is live; otherwise since when it is not. */
export const lostSince = signal<Date | undefined>(undefined)
export const problem = signal<string | undefined>(undefined)

export const newestFirst = computed<readonly Known[]>(() =>
  [...known.value.values()].sort((a, b) => (a.since < b.since ? 1 : -1)),
)

export const taskOf = (taskId: string): Known | undefined => known.value.get(taskId)

export function learn(tasks: readonly TaskSummary[]): void {
  const next = new Map(known.value)
  for (const task of tasks) {
    // T1.
    if ((next.get(task.taskId)?.version ?? 0) > task.version) continue
    const { remainingMs } = task
    const due = remainingMs === undefined ? {} : { dueOnPage: performance.now() + remainingMs }
    next.set(task.taskId, { ...task, ...due })
  }
  known.value = next
}

/** Loads the first page of every column: a fixed number of requests, however many tasks there are. */
export async function loadBoard(): Promise<void> {
  try {
    const pages = await Promise.all(
      columns.map(({ states }) => ops().tasks({ states, limit: PAGE })),
    )
    for (const page of pages) learn(page.tasks)
    count(pages[0])
    problem.value = undefined
  } catch (error) {
    problem.value = messageOf(error)
  }
}

function count(list: TaskList | undefined): void {
  counts.value = list?.counts ?? {}
  total.value = Object.values(counts.value).reduce((sum, tasks) => sum + tasks, 0)
}

export async function load(taskId: string): Promise<void> {
  learn([await ops().task(taskId)])
}

let counting = false
function countSoon(): void {
  if (counting) return
  counting = true
  setTimeout(async () => {
    counting = false
    await ops()
      .tasks({ limit: 1 })
      .then(count, () => undefined)
  }, COUNTS_MS)
}

/** Resolves when another key was typed in. */
function keyTyped(): Promise<void> {
  const refused = key.peek()
  needsKey.value = true
  return new Promise((resolve) => {
    const stop = key.subscribe((now) => {
      if (now === refused) return
      resolve()
      queueMicrotask(() => stop())
    })
  })
}

/** Follows the change feed while the page is open. */
export async function keepCurrent(): Promise<never> {
  let retry = RETRY_MS
  for (;;) {
    try {
      let first = true
      for await (const { tasks, more } of ops().changes(new AbortController().signal)) {
        retry = RETRY_MS
        learn(tasks)
        // T2.
        if (first || more) await loadBoard()
        else if (tasks.length > 0) countSoon()
        if (first) {
          lostSince.value = undefined
          needsKey.value = false
        }
        first = false
      }
    } catch (error) {
      if (isClientError(error, 'UNAUTHENTICATED') || isClientError(error, 'FORBIDDEN')) {
        await keyTyped()
        continue
      }
    }
    lostSince.value ??= new Date()
    await new Promise((resolve) => setTimeout(resolve, retry))
    retry = Math.min(retry * 2, LONGEST_RETRY_MS)
  }
}
