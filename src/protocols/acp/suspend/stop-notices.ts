/** Builds what clients are sent about stops and wakes: the members of the RFC, and `epoch`. */

import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import { outbound } from '../names.ts'

export interface Notice {
  readonly method: string
  readonly params: JsonObject
}

/** An update that the RFC adds to ACP. */
export type RfcUpdate = JsonObject & { readonly sessionUpdate: 'suspended' | 'resumed' }

/** Undefined for a record that neither stops nor wakes the task. */
export function rfcUpdate(record: LogRecord, task: Task): RfcUpdate | undefined {
  const stop = stopIn(record, task)
  const wake = wakeIn(record, task)
  const _meta = { lull: { taskId: task.id } }
  if (stop !== undefined) return { sessionUpdate: 'suspended', ...stop, _meta }
  return wake && { sessionUpdate: 'resumed', ...wake, _meta }
}

/** The same facts as a notification of Lull's extension. */
export function lifecycleNotice(
  sessionId: string,
  record: LogRecord,
  task: Task,
): Notice | undefined {
  const _meta = { lull: { taskId: task.id } }
  const stop = stopIn(record, task)
  if (stop !== undefined) {
    const params = { sessionId, ...stop, ...stopExtras(task), epoch: task.epoch, _meta }
    return { method: outbound.suspended, params }
  }
  const wake = wakeIn(record, task)
  if (wake === undefined) return undefined
  const params = { sessionId, ...wake, epoch: task.epoch, _meta }
  return { method: outbound.resumed, params }
}

/** The parameters of `session/await_resumption` for a parked task. */
export function parkedParams(sessionId: string, task: Task): JsonObject | undefined {
  const { suspension } = task
  if (suspension === undefined) return undefined
  const { handle, reason = '', conditions, epoch } = suspension
  return {
    sessionId,
    handle,
    reason,
    ...(conditions === undefined ? {} : { conditions: conditions as Json }),
    ...stopExtras(task),
    epoch,
    _meta: { lull: { taskId: task.id } },
  }
}

function stopIn({ type }: LogRecord, { suspension }: Task): JsonObject | undefined {
  if ((type !== 'paused' && type !== 'parked') || suspension === undefined) return undefined
  const { handle, reason, initiator, conditions, pausedAt, requestedAt } = suspension
  return {
    handle,
    ...(reason === undefined ? {} : { reason }),
    initiator,
    suspendedAt: toIso(pausedAt ?? requestedAt),
    ...(conditions === undefined ? {} : { resumeWhen: conditions as Json }),
  }
}

function stopExtras({ suspension }: Task): JsonObject {
  const { summary, deadlineAt } = suspension ?? {}
  return {
    ...(summary === undefined ? {} : { summary }),
    ...(deadlineAt === undefined ? {} : { deadlineAt: toIso(deadlineAt) }),
  }
}

function wakeIn(record: LogRecord, { resumes }: Task): JsonObject | undefined {
  const answer = record.type === 'resumed' ? resumes.at(-1) : undefined
  return answer && wakeFacts(answer)
}

/** The members of the RFC for a wake. */
export function wakeFacts(answer: Task['resumes'][number]): JsonObject {
  const { handle, cause, hadResumeInput, continueTranscript, resumedAt } = answer
  return { handle, cause, hadResumeInput, continueTranscript, resumedAt: toIso(resumedAt) }
}
