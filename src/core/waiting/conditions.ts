/**
 * Conditions that wake a stopped task. The first condition that fires wins. Without conditions only an explicit resume
 * wakes the task. `engine/input/inputs.ts` checks their shapes. This file evaluates them.
 */

import { canonical } from '../receipts/canonical-json.ts'
import type { Task } from '../task.ts'
import type { Json, JsonObject } from '../values/json.ts'
import { type CloudEvent, namesOf } from './cloud-event.ts'

/** A CloudEvents Subscriptions filter: exactly one operator per object. */
export type EventFilter =
  | { readonly exact: Readonly<Record<string, Json>> }
  | { readonly prefix: Readonly<Record<string, string>> }
  | { readonly suffix: Readonly<Record<string, string>> }
  | { readonly all: readonly EventFilter[] }
  | { readonly any: readonly EventFilter[] }
  | { readonly not: EventFilter }

/** Exactly one of these three members is given. */
export type Trigger =
  | { readonly filter: EventFilter }
  | { readonly schedule: { readonly cron: string; readonly timezone?: string } }
  | { readonly at: string }

export type OnTimeout = 'resume_with_summary' | 'fail' | 'resume_with_input'

export interface Timeout {
  readonly durationMinutes: number
  readonly onTimeout?: OnTimeout
  readonly input?: Json
}

export interface ResumeConditions {
  readonly onEvent?: string
  readonly trigger?: Trigger
  readonly timeout?: Timeout
  /** Which events count: all since the task was created (default), or only later ones. */
  readonly since?: 'task' | 'now'
}

/** Whether the event wakes a task with these conditions. */
export function matches(conditions: ResumeConditions | undefined, event: CloudEvent): boolean {
  if (conditions === undefined) return false
  return eventConditions.some((fires) => fires(conditions, event))
}

/** How each field matches events. A new field does not compile until it is in this table. */
const byField: {
  readonly [K in keyof Required<ResumeConditions>]: (
    conditions: ResumeConditions,
    event: CloudEvent,
  ) => boolean
} = {
  onEvent: ({ onEvent }, event) => onEvent !== undefined && namesOf(event).includes(onEvent),
  trigger: ({ trigger }, event) =>
    trigger !== undefined && 'filter' in trigger && passes(trigger.filter, event),
  timeout: () => false,
  since: () => false,
}

const eventConditions = Object.values(byField)

/** Evaluates a filter. A comparison with an absent attribute is false. */
export function passes(filter: EventFilter, event: CloudEvent): boolean {
  if ('exact' in filter) return every(filter.exact, (path, want) => equal(read(event, path), want))
  if ('prefix' in filter)
    return every(filter.prefix, (path, want) => text(read(event, path))?.startsWith(want) ?? false)
  if ('suffix' in filter)
    return every(filter.suffix, (path, want) => text(read(event, path))?.endsWith(want) ?? false)
  if ('all' in filter) return filter.all.every((inner) => passes(inner, event))
  if ('any' in filter) return filter.any.some((inner) => passes(inner, event))
  return !passes(filter.not, event)
}

/**
 * The wait name for a filter that fixes no event type and is too long to be a name itself. Every
 * event is checked against it.
 */
export const ANY_NAME = '*'

/**
 * The prefix of wait names of filters that fix no event type; the filter follows as JSON. Event
 * names have no control characters, so none begins with this prefix.
 */
export const FILTER_NAMES = '\u0001'
const LONGEST_FILTER_NAME = 2_048

/**
 * The names under which a waiting task is indexed, so that an event finds it by look-up instead of
 * a scan. A filter that fixes the type (`exact: {type}`, alone or inside `all`) is indexed under
 * that type, any other filter under its own JSON. Comparing an event with these names is enough to
 * find the matching filters, without reading the tasks.
 */
export function waitNames(conditions: ResumeConditions | undefined): readonly string[] {
  if (conditions === undefined) return []
  const names = new Set<string>()
  if (conditions.onEvent !== undefined) names.add(conditions.onEvent)
  const { trigger } = conditions
  if (trigger !== undefined && 'filter' in trigger)
    names.add(pinnedType(trigger.filter) ?? filterName(trigger.filter))
  return [...names]
}

function filterName(filter: EventFilter): string {
  const name = FILTER_NAMES + canonical(filter)
  return name.length <= LONGEST_FILTER_NAME ? name : ANY_NAME
}

/** The prefix of wait names of children. The id of the child follows. */
const CHILD_NAMES = '\u0002'

/** The name under which tasks wait for the end of that child. */
export function childName(childId: string): string {
  return CHILD_NAMES + childId
}

/** The filter that a wait name contains; undefined if the name is not one of a filter. */
export function filterOf(name: string): EventFilter | undefined {
  if (!name.startsWith(FILTER_NAMES)) return undefined
  return JSON.parse(name.slice(FILTER_NAMES.length)) as EventFilter
}

/** Whether these wait names include one that events of any type may match. */
export function waitForAnyType(names: readonly string[]): boolean {
  return names.some((name) => name === ANY_NAME || name.startsWith(FILTER_NAMES))
}

function pinnedType(filter: EventFilter): string | undefined {
  if ('exact' in filter) {
    const type = Object.hasOwn(filter.exact, 'type') ? filter.exact['type'] : undefined
    return typeof type === 'string' ? type : undefined
  }
  if ('all' in filter) {
    for (const inner of filter.all) {
      const type = pinnedType(inner)
      if (type !== undefined) return type
    }
  }
  return undefined
}

function every<T>(
  wants: Readonly<Record<string, T>>,
  holds: (path: string, want: T) => boolean,
): boolean {
  return Object.entries(wants).every(([path, want]) => holds(path, want))
}

/** An attribute of the event, or a value inside its payload by `data.<path>`. Own properties only. */
function read(event: CloudEvent, path: string): Json | undefined {
  if (path !== 'data' && !path.startsWith('data.')) {
    return Object.hasOwn(event, path) ? event[path] : undefined
  }
  let value: Json | undefined = event.data
  for (const key of path.split('.').slice(1)) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
    value = (value as JsonObject)[key]
  }
  return value
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function equal(left: Json | undefined, right: Json): boolean {
  if (left === right) return true
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object')
    return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) =>
        Object.hasOwn(right, key) &&
        equal((left as JsonObject)[key], (right as JsonObject)[key] as Json),
    )
  )
}

/**
 * The highest event position that the task refers to: events up to it do not count, or one of them
 * woke it.
 */
export function newestEventNamed(task: Task | undefined): number {
  if (task === undefined) return 0
  const { eventsAfter, consumed, suspension, pausing, deferred } = task
  const kept = deferred?.kind === 'wake' ? (deferred.eventPos ?? 0) : 0
  const stops = [suspension, pausing].map((stop) => stop?.eventsAfter ?? 0)
  return Math.max(eventsAfter, kept, ...stops, ...consumed)
}
