/** Keyboard: each key presses a visible button or link of the page. Keys typed into a field are left alone. */
import { go } from './router.ts'

const pages = {
  b: 'board',
  w: 'waiting',
  o: 'operations',
  u: 'budgets',
  n: 'agents',
  s: 'schedules',
  p: 'processes',
  a: 'audit',
} as const

export function listenToKeys(help: () => void): void {
  let afterG = false
  addEventListener('keydown', (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isField(event.target)) return
    const { key } = event
    if (afterG && key in pages) go({ page: pages[key as keyof typeof pages] })
    else if (key === '/') focusSearch(event)
    else if (key === '?') help()
    else if (key === 'j' || key === 'k') move(key === 'j' ? 1 : -1)
    else press(key)
    afterG = key === 'g'
  })
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.closest('dialog') !== null || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLElement>('#search')
  if (search === null) return
  event.preventDefault()
  search.focus()
}

/** The link that has the keyboard's focus, until the mouse is used. */
let focused: string | null = null
addEventListener('focusin', (event) => {
  focused = event.target instanceof HTMLAnchorElement ? event.target.getAttribute('href') : null
})
addEventListener('pointerdown', () => {
  focused = null
})

/** A browser takes the focus from an element that moves. Cards move when their tasks change: call it after each draw. */
export function keepFocus(): void {
  if (focused === null || document.activeElement !== document.body) return
  document.querySelector<HTMLElement>(`.card a[href="${CSS.escape(focused)}"]`)?.focus()
}

/** Moves the focus between the cards of a list. */
function move(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.card a')]
  const here = links.findIndex((link) => link.matches(':focus'))
  links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus()
}

function press(key: string): void {
  if (!/^[a-z]$/.test(key)) return
  document.querySelector<HTMLButtonElement>(`button[data-key="${key}"]`)?.click()
}
