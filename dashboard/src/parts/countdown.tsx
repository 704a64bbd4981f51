/** Time that passes on the page: one timer for all countdowns and ages, stopped while the page is hidden. */
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

/** How long until the task falls due. Screen readers get the instant, not every tick. */
export function Countdown({ task }: { readonly task: Known }) {
  ticks.value
  if (task.dueOnPage === undefined || task.dueAt === undefined) return null
  const left = task.dueOnPage - performance.now()
  return (
    <time dateTime={task.dueAt} title={task.dueAt}>
      <span class="hidden">due at {task.dueAt}</span>
      <span aria-hidden="true">{left <= 0 ? 'due now' : `in ${durationText(left)}`}</span>
    </time>
  )
}

export function Age({ since }: { readonly since: string }) {
  const now = useNow()
  return (
    <time dateTime={since} title={since}>
      {durationText(Math.max(0, now - Date.parse(since)))}
    </time>
  )
}

/** How long until an instant. */
export function Until({ at }: { readonly at: string }) {
  const left = Date.parse(at) - useNow()
  return (
    <time dateTime={at} title={at}>
      {left <= 0 ? 'now' : `in ${durationText(left)}`}
    </time>
  )
}
