/** Adds, lists and clears the reminders of a task for a caller. */

import { z } from 'zod'
import { LullError } from '../../../core/errors.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Agent } from '../../author/agent.ts'
import type { Caller } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import type { FieldsOf } from '../../input/exhaustive.ts'
import { check } from '../../input/parse.ts'
import { id, jsonObject, text } from '../../input/primitives.ts'
import { type ReminderRequest, reminderInput } from '../../input/requests.ts'
import type { Verb } from '../verb.ts'

const METADATA_LIMIT = 16_384

export interface RemindRequest {
  readonly taskId: string
  readonly reminder: ReminderRequest
  readonly metadata?: JsonObject | undefined
}

export const remindVerb: Verb<'remind'> = {
  input: z.strictObject({
    taskId: id,
    reminder: reminderInput,
    metadata: jsonObject
      .refine(
        (given) => JSON.stringify(given).length <= METADATA_LIMIT,
        'must be at most 16,384 characters of JSON',
      )
      .optional(),
  } satisfies FieldsOf<RemindRequest>),
  audited: 'task.remind',
  limited: true,
  scope: 'tasks:control',
  act: 'control',
  offer: 'reminders',
  method:
    ({ context }) =>
    async (caller, request) => {
      await context.quotas.admit(caller, { tasks: 0, bytes: weightOf(request) })
      return remind(context, caller, request)
    },
}

export interface ClearRemindersRequest {
  readonly taskId: string
  readonly id?: string | undefined
  readonly tag?: string | undefined
  readonly dedupeKey?: string | undefined
}

export const clearRemindersVerb: Verb<'clearReminders'> = {
  input: z.strictObject({
    taskId: id,
    id: id.optional(),
    tag: text.max(256).optional(),
    dedupeKey: text.max(256).optional(),
  } satisfies FieldsOf<ClearRemindersRequest>),
  audited: 'task.clear-reminders',
  limited: false,
  scope: 'tasks:control',
  act: 'control',
  offer: 'reminders',
  method:
    ({ context }) =>
    (caller, request) =>
      clearReminders(context, caller, request),
}

export interface RemindAnswer {
  readonly reminderId: string
  readonly dedupedCount: number
  readonly acceptedAt: number
}

export async function remind(
  context: EngineContext,
  caller: Caller,
  request: RemindRequest,
): Promise<RemindAnswer> {
  const { taskId, reminder: given, metadata } = check(remindVerb.input, request)
  const { agents, ids, clock, ledger, options } = context
  ledger.admit()
  const found = await taskFor(context, caller, taskId, remindVerb.act)
  checkOffered(agents.get(found.agent))
  context.admitReminders(caller, 1)
  const reminder = toReminder(given, `reminder-${ids.uuid()}`, clock.now(), metadata)
  const limit = options.pendingReminders
  const { task } = await ledger.commit(taskId, { type: 'remind', reminder, limit })
  // A repeated id gets the answer that it got the first time.
  const answer = task.reminded.findLast(({ id }) => id === reminder.id)
  const { acceptedAt, dedupedCount } = answer ?? { ...reminder, dedupedCount: 0 }
  return { reminderId: reminder.id, dedupedCount, acceptedAt }
}

/** The pending reminders, in order of arrival. */
export async function reminders(
  context: EngineContext,
  caller: Caller,
  taskId: string,
): Promise<readonly Reminder[]> {
  const task = await taskFor(context, caller, taskId, 'read')
  checkOffered(context.agents.get(task.agent))
  return task.reminders.map((item) => item.reminder)
}

/** @throws LullError `NOT_OFFERED` */
export function checkOffered(agent: Agent | undefined): void {
  if (agent?.reminders !== false) return
  throw new LullError('NOT_OFFERED', { agent: agent.name, capability: 'reminders' })
}

export async function clearReminders(
  context: EngineContext,
  caller: Caller,
  request: ClearRemindersRequest,
): Promise<{ readonly clearedCount: number }> {
  const { taskId, id, tag, dedupeKey } = check(clearRemindersVerb.input, request)
  const { agent } = await taskFor(context, caller, taskId, clearRemindersVerb.act)
  checkOffered(context.agents.get(agent))
  const filter = {
    ...(id === undefined ? {} : { id }),
    ...(tag === undefined ? {} : { tag }),
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  }
  const { records } = await context.ledger.commit(taskId, { type: 'clear-reminders', filter })
  const expired = records.find((record) => record.type === 'reminder-expired')
  return { clearedCount: expired?.ids.length ?? 0 }
}

/** Fills in the defaults of a reminder (docs/reminders.md). */
export function toReminder(
  given: ReminderRequest,
  mintedId: string,
  acceptedAt: number,
  metadata?: JsonObject,
): Reminder {
  const { dedupeKey, ttlTurns, source, firedAtTurn } = given
  return {
    id: given.id ?? mintedId,
    body: given.body,
    tags: given.tags ?? [],
    ...(dedupeKey == null ? {} : { dedupeKey }),
    ...(ttlTurns == null ? {} : { ttlTurns }),
    preserveOnCompact: given.preserveOnCompact ?? false,
    propagate: given.propagate ?? 'session',
    roleHint: given.roleHint ?? 'system',
    ...(source == null ? {} : { source }),
    ...(firedAtTurn == null ? {} : { firedAtTurn }),
    mode: given.mode ?? 'finish_step',
    ...(metadata === undefined ? {} : { metadata }),
    acceptedAt,
  }
}
