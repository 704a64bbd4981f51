/** Describes in words what wakes a stopped task. */

import { durationText } from '../values/duration.ts'
import { fromIso } from '../values/instant.ts'
import type { EventFilter, OnTimeout, ResumeConditions, Trigger } from './conditions.ts'

/**
 * How exact times are shown: `rough` for texts that are stored, `exact` for texts that are redrawn
 * every second.
 */
export type Precision = 'rough' | 'exact'

export interface WaitTextOptions {
  readonly precision?: Precision
  /** The children that the task waits for. */
  readonly children?: readonly string[]
}

/**
 * For example `on ci.build.completed:1234, or in 30 min (then it fails)`. Says that only a resume
 * wakes the task if there are no conditions.
 */
export function waitText(
  conditions: ResumeConditions | undefined,
  deadlineAt: string | undefined,
  now: number,
  { precision = 'rough', children = [] }: WaitTextOptions = {},
): string {
  const { onEvent, trigger, timeout } = conditions ?? {}
  const waits = [
    onEvent === undefined ? undefined : `on ${onEvent}`,
    trigger === undefined ? undefined : triggerText(trigger, now, precision),
    childrenText(children),
    timeout === undefined
      ? undefined
      : `${until(deadlineAt, now, precision)} (${outcome[timeout.onTimeout ?? 'resume_with_summary']})`,
  ].filter((wait) => wait !== undefined)
  return waits.length === 0 ? 'only when it is resumed' : waits.join(', or ')
}

function childrenText(children: readonly string[]): string | undefined {
  if (children.length === 0) return undefined
  const [child] = children
  return children.length === 1
    ? `when its child ${child} ends`
    : `when one of ${children.length} children ends`
}

const outcome: { readonly [A in OnTimeout]: string } = {
  fail: 'then it fails',
  resume_with_summary: 'then it goes on',
  resume_with_input: 'then it goes on',
}

function triggerText(trigger: Trigger, now: number, precision: Precision): string {
  if ('at' in trigger) return until(trigger.at, now, precision)
  if ('schedule' in trigger) {
    const { cron, timezone } = trigger.schedule
    return `on the schedule "${cron}"${timezone === undefined ? '' : ` (${timezone})`}`
  }
  return `on an event where ${filterText(trigger.filter)}`
}

/** For example `type begins with "incident."`. */
export function filterText(filter: EventFilter): string {
  if ('all' in filter) return filter.all.map(filterText).join(' and ')
  if ('any' in filter) return `(${filter.any.map(filterText).join(' or ')})`
  if ('not' in filter) return `not (${filterText(filter.not)})`
  const [[verb, values] = ['exact', {}]] = Object.entries(filter)
  const words: Readonly<Record<string, string>> = {
    exact: 'is',
    prefix: 'begins with',
    suffix: 'ends with',
  }
  return Object.entries(values)
    .map(([name, value]) => `${name} ${words[verb] ?? verb} ${JSON.stringify(value)}`)
    .join(' and ')
}

/** The time until an instant, in words. */
export function until(
  instant: string | undefined,
  now: number,
  precision: Precision = 'rough',
): string {
  const ms = fromIso(instant ?? '') - now
  if (Number.isNaN(ms)) return 'after a while'
  if (ms <= 0) return 'now'
  if (precision === 'exact') return `in ${durationText(Math.ceil(ms / 1_000) * 1_000)}`
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 120) return `in ${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `in ${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `in ${hours} h` : `in ${Math.round(hours / 24)} days`
}
