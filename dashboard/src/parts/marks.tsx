/** The shapes of states and the icons of pages. They are symbols of `index.html`. */
import type { TaskSummary } from '../../../src/wire/ops/tasks.ts'
import { type Look, lookOf, type Tone } from '../looks.ts'

export function Icon({ name }: { readonly name: string }) {
  return (
    <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}

export function Shape({ shape, tone }: { readonly shape: string; readonly tone: Tone }) {
  return (
    <svg class={`st ${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <use href={`#s-${shape}`} />
    </svg>
  )
}

/** Shape and word. */
export function StateMark({ look }: { readonly look: Look }) {
  return (
    <span class={`state ${look.tone}`}>
      <Shape {...look} />
      {look.word}
    </span>
  )
}

/** The shape alone, where little room is left. Screen readers get the word. */
export function StateShape({ task }: { readonly task: TaskSummary }) {
  const look = lookOf(task)
  return (
    <span title={look.word}>
      <Shape {...look} />
      <span class="hidden">{look.word}</span>
    </span>
  )
}

/** A hold lies over a state and never replaces it. */
export function HeldMark({ text = 'Held' }: { readonly text?: string }) {
  return (
    <span class="held">
      <svg class="st" viewBox="0 0 16 16" aria-hidden="true">
        <use href="#s-held" />
      </svg>
      {text}
    </span>
  )
}

/** A pause whose second bar is a bookmark. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect class="m1" x="6" y="5" width="8" height="20" rx="2" />
      <path
        class="m2"
        d="M18 7a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v21.2a.6.6 0 0 1-1 .45L22 26l-3 2.65a.6.6 0 0 1-1-.45z"
      />
    </svg>
  )
}

/** Work, a stop, and the place that is kept. */
export function KeptPlace() {
  return (
    <svg class="pic" viewBox="0 0 72 40" aria-hidden="true">
      <path class="l" fill="none" d="M2 20h20" />
      <path class="d" d="M29 20h18" />
      <path class="m2" d="M52 10a2 2 0 0 1 2-2h8a2 2 0 0 1 2 2v21l-6-5-6 5z" />
    </svg>
  )
}

/** Work that came to its end. */
export function AllDone() {
  return (
    <svg class="pic done" viewBox="0 0 72 40" aria-hidden="true">
      <path class="l" fill="none" d="M2 20h46" />
      <circle class="f" cx="58" cy="20" r="10" />
      <path class="k big" d="M53 20.5l3.5 3.5 6.5-7.5" />
    </svg>
  )
}
