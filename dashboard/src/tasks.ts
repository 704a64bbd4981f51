/**
 * The tasks that the page knows. Lists load them, the change feed keeps them current.
 *
 * T1  A summary never replaces a newer one: answers may arrive out of order.
 * T2  After a lost connection every list is loaded again, because the feed tells nothing of the time in between.
 * T3  However many tasks change, the page keeps a bounded number of them.
 * T4  However many tasks change, lists and counts are loaded at most once a second.
 */
import { batch, computed, signal } from '@preact/signals'
import { isClientError } from '../../src/client/client-error.ts'
import type { HoldSummary } from '../../src/wire/ops/control.ts'
import type { TaskList, TaskSummary } from '../../src/wire/ops/tasks.ts'
import {
  type Known,
  type KnownTasks,
  merged,
  pruned,
  newestFirst as sorted,
} from './known-tasks.ts'
import { countOf, groups } from './looks.ts'
import { place } from './router.ts'
import { key, loadSession, messageOf, needsKey, ops, who } from './server.ts'

/** How many tasks of a column are loaded: more than are shown, so that a change does not leave a gap. */
const PAGE = 50
const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 10_000
const RELOAD_MS = 1_000

export type { Known } from './known-tasks.ts'

const known = signal<KnownTasks>(new Map())
export const counts = signal<Readonly<Record<string, number>>>({})
export const total = signal<number | undefined>(undefined)
/** Undefined while the page is live; otherwise since when it is not. */
export const lostSince = signal<Date | undefined>(undefined)
export const problem = signal<string | undefined>(undefined)
/** How many tasks ask a person. */
export const asked = computed(() =>
  countOf(counts.value, groups.find(({ id }) => id === 'ask')?.states ?? []),
)
export const holdsInEffect = signal<readonly HoldSummary[]>([])

export const newestFirst = computed<readonly Known[]>(() => sorted(known.value))

export const taskOf = (taskId: string): Known | undefined => known.value.get(taskId)

export function learn(tasks: readonly TaskSummary[]): void {
  const here = place.peek()
  const shown = here.page === 'task' ? here.taskId : undefined
  known.value = pruned(merged(known.peek(), tasks, performance.now()), shown)
}

/** Loads the first page of every column: a fixed number of requests, however many tasks there are. */
export async function loadBoard(): Promise<void> {
  try {
    const [holds, ...pages] = await Promise.all([
      ops().holds(),
      ...groups.map(({ states }, index) =>
        ops().tasks({ states, limit: PAGE, counts: index === 0 }),
      ),
    ])
    // Drawn once.
    batch(() => {
      learn(pages.flatMap((page) => page.tasks))
      count(pages[0])
      holdsInEffect.value = holds
      problem.value = undefined
    })
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

async function askWho(): Promise<void> {
  who.value = await ops().me()
}

/** After a hold was placed or lifted. */
export async function loadHolds(): Promise<void> {
  holdsInEffect.value = await ops().holds()
}

/** T4. What is loaded when the second is over. */
let due: 'counts' | 'board' | undefined
function loadSoon(what: 'counts' | 'board'): void {
  const isPlanned = due !== undefined
  due = due === 'board' ? due : what
  if (isPlanned) return
  setTimeout(async () => {
    if (due === 'board') await loadBoard()
    else
      await ops()
        .tasks({ limit: 1 })
        .then(count, () => undefined)
    due = undefined
  }, RELOAD_MS)
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
        if (first) await Promise.all([loadBoard(), askWho()])
        else if (tasks.length > 0) loadSoon(more ? 'board' : 'counts')
        if (first) {
          lostSince.value = undefined
          needsKey.value = false
        }
        first = false
      }
    } catch (error) {
      if (isClientError(error, 'UNAUTHENTICATED') || isClientError(error, 'FORBIDDEN')) {
        await loadSession()
        await keyTyped()
        continue
      }
    }
    lostSince.value ??= new Date()
    await new Promise((resolve) => setTimeout(resolve, retry))
    retry = Math.min(retry * 2, LONGEST_RETRY_MS)
  }
}
