/**
 * The `WorkerSuspension` of the RFCs: the snake_case form of a stop in metadata, for Harn peers
 * that do not use the standard fields yet. A2A and ACP both send it.
 */

import type { Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import type { Json, JsonObject } from '../values/json.ts'
import { type SpanLink, toWireSpanLink } from '../values/span-link.ts'
import type { ResumeConditions } from './conditions.ts'

export function workerSuspension(task: Task, stop: Suspension): JsonObject {
  const { handle, reason = null, initiator, conditions, links } = stop
  return {
    handle,
    reason,
    resume_when: conditions === undefined ? null : resumeWhen(conditions),
    initiator,
    suspended_at_ms: stop.pausedAt ?? stop.requestedAt,
    pipeline_span_link: wireLink(links?.pipelineSpan),
    prior_span_link: wireLink(links?.span),
    parent_worker_id: links?.parentTaskId ?? task.parentId ?? null,
  }
}

function wireLink(link: SpanLink | undefined): JsonObject | null {
  return link === undefined ? null : toWireSpanLink(link)
}

function resumeWhen({ onEvent, trigger, timeout, since }: ResumeConditions): JsonObject {
  return {
    ...(onEvent === undefined ? {} : { on_event: onEvent }),
    ...(trigger === undefined ? {} : { trigger: trigger as Json }),
    ...(timeout === undefined
      ? {}
      : {
          timeout: {
            duration_minutes: timeout.durationMinutes,
            ...(timeout.onTimeout === undefined ? {} : { on_timeout: timeout.onTimeout }),
            ...(timeout.input === undefined ? {} : { input: timeout.input }),
          },
        }),
    ...(since === undefined ? {} : { since }),
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Converts the names of fields to camelCase. Only one level is converted, because the values belong to the caller. */
export function camelCased(given: Fields): Fields {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

/** Converts the names in conditions to camelCase. The result is not validated. */
export function camelConditions(given: unknown): unknown {
  if (!isFields(given)) return given ?? undefined
  const conditions = camelCased(given)
  const { timeout } = conditions
  return isFields(timeout) ? { ...conditions, timeout: camelCased(timeout) } : conditions
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
