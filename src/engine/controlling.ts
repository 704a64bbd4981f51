/** Cancel and reminders, as callers ask for them. */
import { LullError } from '../core/errors.ts'
import type { Reminder } from '../core/reminders.ts'
import { isTerminal } from '../core/states.ts'
import type { Actor } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'
import { actorOf, type Caller } from './caller.ts'
import { type EngineContext, taskFor } from './context.ts'
import { cancelInput, clearRemindersInput, remindInput } from './inputs.ts'
import { parse } from './parse.ts'
import type {
  CancelRequest,
  ClearRemindersRequest,
  ReminderRequest,
  RemindRequest,
} from './requests.ts'

/** Cancels a task and, with it, its sub-tasks. */
export async function cancel(
  context: EngineContext,
  caller: Caller,
  request: CancelRequest,
  actor: Actor = actorOf(caller),
): Promise<Task> {
  const { taskId, reason } = parse(cancelInput, request)
  await taskFor(context, caller, taskId)
  const because = reason === undefined ? {} : { reason }
  const { task } = await context.ledger.commit(taskId, { type: 'cancel', actor, ...because })
  if (task.children.length > 0) {
    await context.followUps.add(task, (parent) => cancelChildren(context, parent))
  }
  return task
}

export async function cancelChildren(context: EngineContext, parent: Task): Promise<void> {
  const actor: Actor = { kind: 'parent', id: parent.id }
  await Promise.all(
    parent.children.map(async (taskId) => {
      const child = await context.ledger.read(taskId)
      if (child === undefined || isTerminal(child.state)) return
      const reason = 'its parent was canceled'
      try {
        const { task } = await context.ledger.commit(taskId, { type: 'cancel', actor, reason })
        await cancelChildren(context, task)
      } catch (error) {
        if (!(error instanceof LullError && error.code === 'TASK_TERMINAL')) throw error
      }
    }),
  )
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
  const { taskId, reminder: given, metadata } = parse(remindInput, request)
  const { agents, ids, clock, ledger, options } = context
  const found = await taskFor(context, caller, taskId)
  if (agents.get(found.agent)?.reminders === false) {
    throw new LullError('NOT_OFFERED', { agent: found.agent, capability: 'reminders' })
  }
  const reminder = toReminder(given, `reminder-${ids.uuid()}`, clock.now(), metadata)
  const limit = options.pendingReminders
  const { records, task } = await ledger.commit(taskId, { type: 'remind', reminder, limit })
  const deduped = records.find((record) => record.type === 'reminder-deduped')
  const kept = task.reminders.find((item) => item.reminder.id === reminder.id)?.reminder
  return {
    reminderId: reminder.id,
    dedupedCount: deduped?.ids.length ?? 0,
    acceptedAt: kept?.acceptedAt ?? reminder.acceptedAt,
  }
}

/** Fills in the defaults of the domain contract, §6. */
function toReminder(
  given: ReminderRequest,
  mintedId: string,
  acceptedAt: number,
  metadata: RemindRequest['metadata'],
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

export async function clearReminders(
  context: EngineContext,
  caller: Caller,
  request: ClearRemindersRequest,
): Promise<{ readonly clearedCount: number }> {
  const { taskId, id, tag, dedupeKey } = parse(clearRemindersInput, request)
  await taskFor(context, caller, taskId)
  const filter = {
    ...(id === undefined ? {} : { id }),
    ...(tag === undefined ? {} : { tag }),
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  }
  const { records } = await context.ledger.commit(taskId, { type: 'clear-reminders', filter })
  const expired = records.find((record) => record.type === 'reminder-expired')
  return { clearedCount: expired?.ids.length ?? 0 }
}
