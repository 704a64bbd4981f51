/**
 * The seeds' migration path, outbound: what Harn peers read from `metadata.harn` while the standard fields are young. The
 * WorkerSuspension envelope and the SystemReminder of the RFCs, snake_case. Deprecated from the start.
 */
import type { ResumeConditions } from '../../../core/conditions.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import type { Reminder } from '../../../core/reminders.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { pausedAtOf } from '../metadata.ts'

/** Undefined for a task that was never stopped. */
export function harnPause(task: Task): JsonObject | undefined {
  const { suspension, pausing } = task
  if (suspension !== undefined) return { state: task.state, ...workerSuspension(task, suspension) }
  if (pausing !== undefined) {
    return { state: 'working', pausing: true, ...workerSuspension(task, pausing) }
  }
  if (task.epoch === 0 && task.resumes.length === 0) return undefined
  const last = task.resumes.at(-1)
  return {
    state: 'active',
    ...(last === undefined ? {} : { handle: last.handle, cause: last.cause }),
  }
}

function workerSuspension(task: Task, suspension: Suspension): JsonObject {
  const { handle, reason = null, initiator, conditions, links } = suspension
  return {
    handle,
    reason,
    resume_when: conditions === undefined ? null : resumeWhen(conditions),
    initiator,
    suspended_at_ms: pausedAtOf(suspension),
    pipeline_span_link: links?.pipelineSpan ?? null,
    prior_span_link: links?.span ?? null,
    parent_worker_id: links?.parentTaskId ?? task.parentId ?? null,
  }
}

function resumeWhen({ onEvent, trigger, timeout, since }: ResumeConditions): JsonObject {
  return {
    ...(onEvent === undefined ? {} : { on_event: onEvent }),
    ...(trigger === undefined ? {} : { trigger: trigger as unknown as Json }),
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

export function harnReminder(reminder: Reminder): JsonObject {
  const { id, body, tags, dedupeKey, ttlTurns, source, firedAtTurn } = reminder
  return {
    id,
    body,
    tags: [...tags],
    ...(dedupeKey === undefined ? {} : { dedupe_key: dedupeKey }),
    ...(ttlTurns === undefined ? {} : { ttl_turns: ttlTurns }),
    preserve_on_compact: reminder.preserveOnCompact,
    propagate: reminder.propagate,
    role_hint: reminder.roleHint,
    ...(source === undefined ? {} : { source }),
    ...(firedAtTurn === undefined ? {} : { fired_at_turn: firedAtTurn }),
  }
}
