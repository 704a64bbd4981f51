/** The page that the address names. Links of the dashboard change it without loading the page again. */
import { computed, signal } from '@preact/signals'
import { base } from './base.ts'

const BASE = `${base}/dashboard`

/** The pages without a task, by their path, with their titles. */
export const pages = {
  overview: 'Overview',
  board: 'Board',
  tasks: 'Tasks',
  waiting: 'Waiting',
  agents: 'Agents',
  schedules: 'Schedules',
  budgets: 'Budgets',
  operations: 'Operations',
  processes: 'Processes',
  audit: 'Audit',
} as const
export type PageName = keyof typeof pages
export const pageNames = Object.keys(pages) as readonly PageName[]

/** What the address says after `?`: filters, the order, the words of a search. */
export type Query = Readonly<Record<string, string | undefined>>

export type Place =
  | { readonly page: PageName; readonly query?: Query }
  | { readonly page: 'task'; readonly taskId: string }

export const place = signal<Place>(placeIn(location))
/** The words and filters of the address. */
export const query = computed<Query>(() =>
  place.value.page === 'task' ? {} : (place.value.query ?? {}),
)

export function pathOf(to: Place): string {
  if (to.page === 'task') return `${BASE}/tasks/${encodeURIComponent(to.taskId)}`
  const given = Object.entries(to.query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as [string, string]],
  )
  const text = new URLSearchParams(given).toString()
  return `${BASE}/${to.page === 'overview' ? '' : to.page}${text === '' ? '' : `?${text}`}`
}

export function go(to: Place): void {
  history.pushState(null, '', pathOf(to))
  place.value = to
  scrollTo(0, 0)
}

/** The same page with another query. Typing does not fill the history. */
export function narrow(change: Query): void {
  const here = place.peek()
  if (here.page === 'task') return
  const to = { page: here.page, query: { ...here.query, ...change } }
  history.replaceState(null, '', pathOf(to))
  place.value = to
}

addEventListener('popstate', () => {
  place.value = placeIn(location)
})

/** A click with a modifier key opens a new tab, as everywhere. */
export function follow(event: MouseEvent, to: Place): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  go(to)
}

function placeIn({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place {
  const [name = '', id] = pathname.slice(BASE.length + 1).split('/')
  if (name === 'tasks' && id) return { page: 'task', taskId: decodeURIComponent(id) }
  const page = pageNames.find((one) => one === name) ?? 'overview'
  return { page, query: Object.fromEntries(new URLSearchParams(search)) }
}
