/**
 * The keyboard: the one place where a key that is typed becomes an act.
 *
 * K1  A key that acts types nothing: what it opens gets no letter.
 * K2  No key acts while a dialog is open, while a field has the focus, or together with a modifier. A key that is held
 *     down acts once.
 */
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
    if (!isOurs(event)) return
    const { key } = event
    const act = actOf(key, afterG, help)
    afterG = key === 'g'
    if (act === undefined) return
    // K1.
    event.preventDefault()
    act()
  })
}

/** K2. */
function isOurs(event: KeyboardEvent): boolean {
  const { metaKey, ctrlKey, altKey, isComposing, repeat, defaultPrevented, target } = event
  if (metaKey || ctrlKey || altKey || isComposing || defaultPrevented) return false
  if (document.querySelector('dialog[open]') !== null || isField(target)) return false
  return !repeat || event.key === 'j' || event.key === 'k'
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

/** Undefined: the key means nothing here. */
function actOf(key: string, afterG: boolean, help: () => void): (() => void) | undefined {
  if (afterG && key in pages) return () => go({ page: pages[key as keyof typeof pages] })
  if (key === '?') return help
  if (key === 'j' || key === 'k') return () => move(key === 'j' ? 1 : -1)
  if (key === '/') return within<HTMLElement>('#search', (search) => search.focus())
  if (!/^[a-z]$/.test(key)) return undefined
  return within<HTMLElement>(`button[data-key="${key}"]`, (button) => button.click())
}

function within<E extends Element>(selector: string, act: (found: E) => void) {
  const found = document.querySelector<E>(selector)
  return found === null ? undefined : () => act(found)
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
