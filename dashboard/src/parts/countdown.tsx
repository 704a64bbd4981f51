/** Time that passes on the page: one timer for all countdowns and ages, stopped while the page is hidden. */
import { signal } from '@preact/signals'
import type { Known } from '../tasks.ts'

const ticks = signal(0)
setInterval(() => {
  if (!document.hidden) ticks.value++
}, 1_000)

/** How long until the task falls due. Screen readers get the instant, not every tick. */
export function Countdown({ task }: { readonly task: Known }) {
  ticks.value
  if (task.dueOnPage === undefined || task.dueAt === undefined) return null
  const left = task.dueOnPage - performance.now()
  return (
    <time dateTime={task.dueAt} title={task.dueAt}>
      <span class="hidden">due at {task.dueAt}</span>
      <span aria-hidden="true">{left <= 0 ? 'due now' : `in ${duration(left)}`}</span>
    </time>
  )
}

export function Age({ since }: { readonly since: string }) {
  ticks.value
  return (
    <time dateTime={since} title={since}>
      {duration(Math.max(0, Date.now() - Date.parse(since)))}
    </time>
  )
}

/** At most two units: `3 h 12 min`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 1) return `${Math.round(ms)} ms`
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const
  const first = units.findIndex(([, size]) => seconds >= size)
  const [word, size] = units[first] ?? (['s', 1] as const)
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1])
  const whole = `${Math.floor(seconds / size)} ${word}`
  return rest === 0 || next === undefined ? whole : `${whole} ${rest} ${next[0]}`
}
