/**
 * The migration path of the RFCs, inbound: reads a pause, a resume or a reminder from the metadata
 * of a send, for peers that cannot call the methods. The members are `harn.pause` (or
 * `harn.suspend`) and `harn.reminder`, nested or dotted, in camelCase or snake_case.
 */

import { type Message, textOf } from '../../../../core/messages/message.ts'
import type { JsonObject } from '../../../../core/values/json.ts'
import { camelCased, camelConditions } from '../../../../core/waiting/worker-suspension.ts'
import { reminderInput } from '../../../../engine/input/inputs.ts'
import { parse } from '../../../../engine/input/parse.ts'
import type { ReminderRequest } from '../../../../engine/input/requests.ts'
import { isObject, type Params } from '../../addresses/params.ts'

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
  return (isObject(harn) ? harn[name] : undefined) ?? metadata[`harn.${name}`]
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
