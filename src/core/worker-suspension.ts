/**
 * The RFCs' WorkerSuspension: the snake_case envelope of a stop that Harn peers read from and write into metadata while
 * the standard fields are young. Both protocols carry it.
 */
import type { ResumeConditions } from './conditions.ts'
import type { Json, JsonObject } from './json.ts'
import type { Suspension } from './suspension.ts'
import type { Task } from './task.ts'

export function workerSuspension(task: Task, stop: Suspension): JsonObject {
  const { handle, reason = null, initiator, conditions, links } = stop
  return {
    handle,
    reason,
    resume_when: conditions === undefined ? null : resumeWhen(conditions),
    initiator,
    suspended_at_ms: stop.pausedAt ?? stop.requestedAt,
    pipeline_span_link: links?.pipelineSpan ?? null,
    prior_span_link: links?.span ?? null,
    parent_worker_id: links?.parentTaskId ?? task.parentId ?? null,
  }
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

/** Fields in either spelling, camelCase afterwards. One level only: values are the caller's own. */
export function camelCased(given: Fields): Fields {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

/** Conditions in either spelling; still to be checked. */
export function camelConditions(given: unknown): unknown {
  if (!isFields(given)) return given ?? undefined
  const conditions = camelCased(given)
  const { timeout } = conditions
  return isFields(timeout) ? { ...conditions, timeout: camelCased(timeout) } : conditions
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
