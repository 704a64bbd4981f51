/** Times on the page: one timer for all countdowns and ages, stopped while the page is hidden. */
import { signal } from '@preact/signals'
import { durationText } from '../../../src/core/values/duration.ts'
import type { Known } from '../tasks.ts'

const ticks = signal(0)
setInterval(() => {
  if (!document.hidden) ticks.value++
}, 1_000)

/** The time of this page's clock, drawn again every second. */
export function useNow(): number {
  ticks.value
  return Date.now()
}

/** The instant itself, for whoever points at a time: `2026-11-19 13:20:40.000 UTC`. */
const exact = (at: string): string => at.replace('T', ' ').replace('Z', ' UTC')

const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const short = new Intl.DateTimeFormat(undefined, clock)
const withDay = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  ...clock,
})

/** An instant in the reader's zone: today the time, else day and time. */
export function When({ at }: { readonly at: string }) {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return (
    <time dateTime={at} title={exact(at)}>
      {(isToday ? short : withDay).format(date)}
    </time>
  )
}

/** How long until the task falls due. It stands still while the task is held. Screen readers get the instant, not every tick. */
export function Countdown({ task }: { readonly task: Known }) {
  ticks.value
  const { dueAt, dueOnPage, held } = task
  if (dueOnPage === undefined || dueAt === undefined) return null
  const left = dueOnPage - performance.now()
  const text = left <= 0 ? 'due now' : `in ${durationText(left)}`
  return (
    <time dateTime={dueAt} title={exact(dueAt)}>
      <span class="hidden">due at {exact(dueAt)}</span>
      <span aria-hidden="true">{held ? 'stands still' : text}</span>
    </time>
  )
}

export function Age({ since }: { readonly since: string }) {
  // Whole seconds: nobody reads milliseconds that change each second.
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(since)) / 1_000))
  return (
    <time dateTime={since} title={exact(since)}>
      {seconds === 0 ? '0 s' : durationText(seconds * 1_000)}
    </time>
  )
}

/** How long until an instant. */
export function Until({ at }: { readonly at: string }) {
  const left = Date.parse(at) - useNow()
  return (
    <time dateTime={at} title={exact(at)}>
      {left <= 0 ? 'now' : `in ${durationText(left)}`}
    </time>
  )
}
