/** The page that the address names. Links of the dashboard change it without loading the page again. */
import { signal } from '@preact/signals'

const BASE = '/dashboard'

export type Place =
  | { readonly page: 'board' | 'waiting' | 'operations' }
  | { readonly page: 'task'; readonly taskId: string }

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
  return name === 'waiting' || name === 'operations' ? { page: name } : { page: 'board' }
}
