/** Adds, lists and clears the reminders of a task for a caller. */
import { LullError } from '../../../core/errors.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import type { Agent } from '../../author/agent.ts'
import type { Caller } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import { clearRemindersInput, remindInput } from '../../input/inputs.ts'
import { check } from '../../input/parse.ts'
import type { ClearRemindersRequest, RemindRequest } from '../../input/requests.ts'
import { toReminder } from './to-reminder.ts'

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
  const { taskId, reminder: given, metadata } = check(remindInput, request)
  const { agents, ids, clock, ledger, options } = context
  ledger.admit()
  const found = await taskFor(context, caller, taskId)
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
  const task = await taskFor(context, caller, taskId)
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
  const { taskId, id, tag, dedupeKey } = check(clearRemindersInput, request)
  const { agent } = await taskFor(context, caller, taskId)
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
