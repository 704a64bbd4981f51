/**
 * The keyboard: the one place where a key that is typed becomes an act.
 *
 * K1  A key that acts types nothing: what it opens gets no letter.
 * K2  No key acts while a dialog is open, while a field has the focus, or together with a modifier. A key that is held
 *     down acts once.
 */
import { go, type PageName } from './router.ts'

const pageKeys: Readonly<Record<string, PageName>> = {
  v: 'overview',
  b: 'board',
  t: 'tasks',
  w: 'waiting',
  n: 'agents',
  s: 'schedules',
  u: 'budgets',
  o: 'operations',
  p: 'processes',
  a: 'audit',
}

/** What `?` shows. */
export const keyList: readonly (readonly [keys: string, about: string])[] = [
  ...Object.entries(pageKeys).map(([letter, page]) => [`g ${letter}`, page] as const),
  ['/', 'search'],
  ['j, k', 'next and previous'],
  ['Enter', 'open the task, or begin to answer'],
  ['p, r, c', 'pause, resume, cancel'],
  ['a', 'begin to answer'],
  ['m', 'remind'],
  ['e', 'send the event it waits for'],
  ['h', 'hold (operations)'],
]

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
  const page = afterG && Object.hasOwn(pageKeys, key) ? pageKeys[key] : undefined
  if (page !== undefined) return () => go({ page })
  if (key === '?') return help
  if (key === 'j' || key === 'k') return () => move(key === 'j' ? 1 : -1)
  if (key === '/') return within<HTMLElement>('#search', (search) => search.focus())
  if (!/^[a-z]$/.test(key)) return undefined
  if (key === 'a') return within<HTMLElement>(question, (card) => beginToAnswer(card))
  return within<HTMLElement>(`button[data-key="${key}"]`, (button) => button.click())
}

/** The question that has the focus, else the first one. */
const question = '.q:focus-within, .q:focus, :not([hidden]) > .q'

/** The first field of a question gets the focus. Where there is only to choose, its first button: a second key consents. */
export function beginToAnswer(card: HTMLElement): void {
  card.querySelector<HTMLElement>('form :is(input, textarea, select, button)')?.focus()
}

function within<E extends Element>(selector: string, act: (found: E) => void) {
  const found = document.querySelector<E>(selector)
  return found === null ? undefined : () => act(found)
}

/** The address of the task that has the keyboard's focus, until the mouse is used. */
let focused: string | null = null
addEventListener('focusin', ({ target }) => {
  focused = target instanceof HTMLElement && target.closest(item) ? hrefIn(target) : null
})
addEventListener('pointerdown', () => {
  focused = null
})

/** What `j` and `k` go through: cards of the board, rows of the table, questions. */
const item = '[data-item], .card h3'
const hrefIn = (element: Element): string | null =>
  (element.closest('a') ?? element.querySelector('a'))?.getAttribute('href') ?? null

/** A browser takes the focus from an element that moves. Cards move when their tasks change: call it after each draw. */
export function keepFocus(): void {
  if (focused === null || document.activeElement !== document.body) return
  document.querySelector<HTMLElement>(`.card a[href="${CSS.escape(focused)}"]`)?.focus()
}

/** An item that can have the focus itself gets it, else its link. */
function move(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>(item)].filter(
    (one) => one.getClientRects().length > 0,
  )
  const here = items.findIndex((one) => one.contains(document.activeElement))
  const next = items[Math.max(0, Math.min(items.length - 1, here + by))]
  const target = next?.tabIndex === -1 && next.hasAttribute('tabindex') ? next : null
  ;(target ?? next?.querySelector('a'))?.focus()
}
