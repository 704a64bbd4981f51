/** The page that the address names. Links of the dashboard change it without loading the page again. */
import { signal } from '@preact/signals'

const BASE = '/dashboard'

/** The pages without a parameter, by their path. */
export const pages = [
  'board',
  'waiting',
  'agents',
  'operations',
  'budgets',
  'schedules',
  'processes',
  'audit',
] as const
export type PageName = (typeof pages)[number]

export type Place = { readonly page: PageName } | { readonly page: 'task'; readonly taskId: string }

export const place = signal<Place>(placeIn(location.pathname))

export const pathOf = (to: Place): string =>
  to.page === 'task'
    ? `${BASE}/tasks/${encodeURIComponent(to.taskId)}`
    : `${BASE}/${to.page === 'board' ? '' : to.page}`

export function go(to: Place): void {
  history.pushState(null, '', pathOf(to))
  place.value = to
  scrollTo(0, 0)
}

addEventListener('popstate', () => {
  place.value = placeIn(location.pathname)
})

/** A click with a modifier key opens a new tab, as everywhere. */
export function follow(event: MouseEvent, to: Place): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  go(to)
}

function placeIn(path: string): Place {
  const [name = '', id] = path.slice(BASE.length + 1).split('/')
  if (name === 'tasks' && id) return { page: 'task', taskId: decodeURIComponent(id) }
  return { page: pages.find((page) => page === name) ?? 'board' }
}
