/**
 * Passes a reminder for a session to its task. A session without a task keeps it for the next one.
 */
import { RequestError } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { ReminderRequest } from '../../../engine/input/requests.ts'
import { offersOf } from '../../../engine/requests/offers.ts'
import type { AcpContext } from '../connection/context.ts'
import { STATE_CONFLICT } from '../connection/faults.ts'
import { agentOf } from '../sessions/sessions.ts'
import { type KeptReminder, keptIn, withKept } from './kept-reminders.ts'

/** The most reminders that a session keeps: the limit of a task too. */
const MAX_KEPT = 64

export async function injectReminder(
  acp: AcpContext,
  caller: Caller,
  sessionId: string,
  task: Task | undefined,
  reminder: ReminderRequest,
): Promise<JsonObject> {
  if (task === undefined) return keepForNext(acp, caller, sessionId, reminder)
  const answer = await acp.engine.remind(caller, { taskId: task.id, reminder })
  const { reminderId, dedupedCount, acceptedAt } = answer
  const _meta = { lull: { taskId: task.id } }
  return { reminderId, dedupedCount, acceptedAt: toIso(acceptedAt), _meta }
}

async function keepForNext(
  { engine, sessions, waiting, clock, ids }: AcpContext,
  caller: Caller,
  sessionId: string,
  given: ReminderRequest,
): Promise<JsonObject> {
  const reminder: KeptReminder = { ...given, id: given.id ?? `reminder-${ids.uuid()}` }
  let dedupedCount = 0
  const agent = agentOf(engine, await sessions.get(caller, sessionId))
  if (agent !== undefined && !offersOf(agent).reminders) {
    throw new LullError('NOT_OFFERED', { agent: agent.name, capability: 'reminders' })
  }
  await sessions.change(caller, sessionId, (session) => {
    const kept = keptIn(session)
    const same = kept.find(({ id }) => id === reminder.id)
    if (same !== undefined) return unchanged(same, reminder)
    const others = kept.filter(
      ({ dedupeKey }) => dedupeKey == null || dedupeKey !== given.dedupeKey,
    )
    dedupedCount = kept.length - others.length
    if (others.length >= MAX_KEPT) {
      const data = { reason: 'reminder_limit', sessionId, limit: MAX_KEPT }
      throw new RequestError(STATE_CONFLICT, `${sessionId} already has ${MAX_KEPT} reminders`, data)
    }
    return withKept([...others, reminder])
  })
  await waiting.expect(caller, sessionId)
  return { reminderId: reminder.id, dedupedCount, acceptedAt: toIso(clock.now()) }
}

/**
 * Accepts a repeated reminder id.
 * @throws LullError when the id was used with another body
 */
function unchanged(known: KeptReminder, { body }: KeptReminder): object {
  if (known.body === body) return {}
  const problem = 'was used for a reminder with another body'
  throw new LullError('INVALID_INPUT', { path: 'reminder.id', problem })
}
