/**
 * `metadata.harn`, the migration path that the RFCs define and deprecate. Inbound: a pause, a resume or a reminder in the
 * metadata of a send, for peers that cannot call the methods. Outbound: the `WorkerSuspension` and `SystemReminder` of
 * the RFCs in snake_case, for Harn peers that do not read the metadata of the extensions yet.
 */

import { type Message, textOf } from '../../../core/messages/message.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import type { Task } from '../../../core/task.ts'
import { type JsonObject, withoutNulls } from '../../../core/values/json.ts'
import {
  camelCased,
  camelConditions,
  workerSuspension,
} from '../../../core/waiting/worker-suspension.ts'
import { reminderInput } from '../../../engine/input/inputs.ts'
import { parse } from '../../../engine/input/parse.ts'
import type { ReminderRequest } from '../../../engine/input/requests.ts'
import { isObject, type Params } from '../addresses/params.ts'
import { TASK_CONTROL } from '../extensions.ts'
import { eventMetadata, taskMetadata } from '../metadata.ts'
import type { TaskEvent } from '../streams/task-events.ts'

export interface Metadata {
  readonly ofTask: (task: Task) => JsonObject | undefined
  readonly ofEvent: (event: TaskEvent) => JsonObject | undefined
}

export function createMetadata(harn: boolean): Metadata {
  if (!harn) return { ofTask: taskMetadata, ofEvent: eventMetadata }
  return {
    ofTask(task) {
      const metadata = taskMetadata(task)
      if (metadata?.[TASK_CONTROL] === undefined) return metadata
      return withHarn(metadata, 'pause', harnPause(task))
    },
    ofEvent(event) {
      const metadata = eventMetadata(event)
      if (metadata === undefined) return undefined
      if (event.kind === 'reminder' && event.change.event === 'emitted') {
        return withHarn(metadata, 'reminder', harnReminder(event.change.reminder))
      }
      if (metadata[TASK_CONTROL] === undefined) return metadata
      return withHarn(metadata, 'pause', harnPause(event.task))
    },
  }
}

function withHarn(metadata: JsonObject, name: string, fact: JsonObject | undefined): JsonObject {
  if (fact === undefined) return metadata
  const { harn } = metadata
  return { ...metadata, harn: { ...(isObject(harn) ? (harn as JsonObject) : {}), [name]: fact } }
}

/**
 * Whether an event is sent as Harn metadata. Harn peers read reminders from the metadata of a
 * repeated status; other 0.3 peers get no frame for reminders.
 */
export function isTunnelled(facts: Metadata, event: TaskEvent): boolean {
  return facts.ofEvent(event)?.['harn'] !== undefined
}

/**
 * The migration path of the RFCs, inbound: reads a pause, a resume or a reminder from the metadata
 * of a send, for peers that cannot call the methods. The members are `harn.pause` (or
 * `harn.suspend`) and `harn.reminder`, nested or dotted (`harn.pause`, `harn.pause.reason`), in
 * camelCase or snake_case.
 */
export interface HarnOperations {
  readonly pause?: Params | undefined
  readonly resume?: Params | undefined
  readonly reminder?: ReminderRequest | undefined
}

/** Undefined when the metadata has no operation, which is the common case. @throws LullError `INVALID_INPUT` */
export function harnIn(
  metadata: JsonObject | undefined,
  message: Message,
): HarnOperations | undefined {
  if (metadata === undefined && message.metadata === undefined) return undefined
  const find = (name: string): unknown =>
    memberOf(metadata, name) ?? memberOf(message.metadata, name)
  const stop = find('pause') ?? find('suspend')
  const reminder = find('reminder')
  if (!isObject(stop) && reminder === undefined) return undefined
  const isResume = isObject(stop) && stop['op'] === 'resume'
  return {
    pause: isObject(stop) && !isResume ? pauseParams(camelCased(stop)) : undefined,
    resume: isObject(stop) && isResume ? resumeParams(camelCased(stop)) : undefined,
    reminder: reminder === undefined ? undefined : readReminder(reminder),
  }
}

/**
 * Whether the message has no content and only carries the operation. Such a message is not added to
 * the conversation.
 */
export function isBlank(message: Message): boolean {
  return message.parts.every((part) => 'text' in part) && textOf(message).trim() === ''
}

function memberOf(metadata: JsonObject | undefined, name: string): unknown {
  if (!isObject(metadata)) return undefined
  const { harn } = metadata
  const nested = isObject(harn) ? harn[name] : undefined
  return nested ?? metadata[`harn.${name}`] ?? flatMembers(metadata, `harn.${name}.`)
}

/** One key per field, as the RFCs write them in their prose. */
function flatMembers(metadata: Params, prefix: string): Params | undefined {
  const found = Object.entries(metadata).filter(([key]) => key.startsWith(prefix))
  if (found.length === 0) return undefined
  return Object.fromEntries(found.map(([key, value]) => [key.slice(prefix.length), value]))
}

function pauseParams(given: Params): Params {
  const { reason, mode, graceMs, cascade } = given
  const conditions = given['conditions'] ?? given['resumeWhen']
  return present({ reason, mode, graceMs, cascade, conditions: camelConditions(conditions) })
}

function resumeParams(given: Params): Params {
  const { handle, input, continueTranscript } = given
  return present({ handle, input, continueTranscript })
}

/** Reads a reminder. Members that only Harn knows are ignored; others must be valid. */
function readReminder(given: unknown): ReminderRequest {
  const known = isObject(given) ? reminderParams(camelCased(given)) : given
  return parse(reminderInput, known, 'metadata.harn.reminder')
}

function reminderParams(given: Params): Params {
  const { id, body, tags, dedupeKey, ttlTurns, preserveOnCompact } = given
  const { propagate, roleHint, source, firedAtTurn, mode } = given
  const what = { id, body, tags, dedupeKey, ttlTurns, preserveOnCompact }
  return present({ ...what, propagate, roleHint, source, firedAtTurn, mode })
}

function present(given: Params): Params {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  )
}

/**
 * The migration path of the RFCs, outbound: writes `metadata.harn` for Harn peers that do not read
 * the standard fields yet. It has the `WorkerSuspension` and `SystemReminder` of the RFCs in
 * snake_case. The RFCs deprecate it.
 */
/** Undefined for a task that was never stopped. */
function harnPause(task: Task): JsonObject | undefined {
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

function harnReminder(reminder: Reminder): JsonObject {
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
