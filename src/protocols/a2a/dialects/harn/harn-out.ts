/**
 * The migration path of the RFCs, outbound: writes `metadata.harn` for Harn peers that do not read
 * the standard fields yet. It has the `WorkerSuspension` and `SystemReminder` of the RFCs in
 * snake_case. The RFCs deprecate it.
 */

import type { Reminder } from '../../../../core/reminders/reminders.ts'
import type { Task } from '../../../../core/task.ts'
import { type JsonObject, withoutNulls } from '../../../../core/values/json.ts'
import { workerSuspension } from '../../../../core/waiting/worker-suspension.ts'

/** Undefined for a task that was never stopped. */
export function harnPause(task: Task): JsonObject | undefined {
  const { suspension, pausing } = task
  if (suspension !== undefined) {
    return withoutNulls({ state: task.state, ...workerSuspension(task, suspension) })
  }
  if (pausing !== undefined) {
    return withoutNulls({ state: 'working', pausing: true, ...workerSuspension(task, pausing) })
  }
  if (task.epoch === 0 && task.resumes.length === 0) return undefined
  const last = task.resumes.at(-1)
  return {
    state: 'active',
    ...(last === undefined ? {} : { handle: last.handle, cause: last.cause }),
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
