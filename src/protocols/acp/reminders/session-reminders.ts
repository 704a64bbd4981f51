/**
 * Sessions that keep reminders for their next task. A task created by a prompt gets them with the
 * prompt. A task that another protocol creates in the session gets them when it appears. The list
 * of these sessions is stored, so that this also works after a restart, before any client connects.
 */

import { RequestError } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import { reminderInput } from '../../../engine/input/inputs.ts'
import { parse } from '../../../engine/input/parse.ts'
import type { ReminderRequest } from '../../../engine/input/requests.ts'
import { offersOf } from '../../../engine/requests/offers.ts'
import { changeValue } from '../../../engine/upkeep/change-value.ts'
import { isOwn } from '../connection/address.ts'
import type { AcpContext, AcpStore } from '../connection/context.ts'
import { STATE_CONFLICT } from '../connection/faults.ts'
import { agentOf, keyOf, type Sessions, type Watching } from '../sessions/sessions.ts'

/** The name of the stored list of `[tenant, principal, sessionId]`, which all processes share. */
export const WAITING = 'acp/waiting-reminders'

export interface WaitingReminders {
  start(): Promise<void>
  expect(caller: Caller, sessionId: string): Promise<void>
  /** Called when a task has received the reminders with these ids. */
  delivered(caller: Caller, sessionId: string, ids: ReadonlySet<string>): Promise<void>
  /** Called when the session was deleted. */
  forget(caller: Caller, sessionId: string): Promise<void>
}

export interface WaitingDeps extends Pick<EngineDeps, 'log'> {
  readonly engine: Engine
  readonly store: AcpStore
  readonly sessions: Sessions
  readonly watching: Watching
}

export function createWaitingReminders(deps: WaitingDeps): WaitingReminders {
  const { engine, store, sessions, watching, log } = deps
  /** Functions that stop watching, by session. */
  const waiting = new Map<string, () => void>()

  function watch(caller: Caller, sessionId: string): void {
    const { tenant, principal } = caller
    const key = keyOf(caller, sessionId)
    if (waiting.has(key)) return
    const unwatch = watching.on(sessionId, (task) => {
      const theirs = task.tenant === tenant && task.principal === principal
      // A task created by a prompt already has the reminders.
      if (!theirs || !isOwn(task) || task.origin === 'acp' || isTerminal(task.state)) return
      const agent = engine.agents.get(task.agent)
      if (agent === undefined || !offersOf(agent).reminders) return
      deliver(caller, sessionId, task).catch((error: unknown) =>
        log('warn', 'the kept reminders of a session did not reach its task', {
          taskId: task.id,
          error,
        }),
      )
    })
    waiting.set(key, unwatch)
  }

  async function deliver(caller: Caller, sessionId: string, { id: taskId }: Task): Promise<void> {
    const kept = keptIn(await sessions.get(caller, sessionId))
    // Reminder ids are idempotent, so a repetition changes nothing.
    for (const reminder of kept) await engine.remind(caller, { taskId, reminder })
    await delivered(caller, sessionId, new Set(kept.map(({ id }) => id)))
  }

  async function delivered(
    caller: Caller,
    sessionId: string,
    ids: ReadonlySet<string>,
  ): Promise<void> {
    const session = await sessions.change(caller, sessionId, (now) =>
      withKept(keptIn(now).filter(({ id }) => !ids.has(id))),
    )
    // Reminders that arrived meanwhile stay for the next task.
    if (keptIn(session).length > 0) return
    await forget(caller, sessionId)
    const { tenant, principal } = caller
    const now = await store.session(tenant, principal, sessionId)
    const isKept = now !== undefined && now.deletedAt === undefined && keptIn(now).length > 0
    if (isKept) await expect(caller, sessionId)
  }

  async function expect(caller: Caller, sessionId: string): Promise<void> {
    watch(caller, sessionId)
    await list(store, caller, sessionId, true)
  }

  async function forget(caller: Caller, sessionId: string): Promise<void> {
    const key = keyOf(caller, sessionId)
    waiting.get(key)?.()
    waiting.delete(key)
    // Another process may have added the session to the list.
    await list(store, caller, sessionId, false)
  }

  return {
    async start() {
      for (const [tenant, principal, sessionId] of placesIn(await store.getValue(WAITING))) {
        watch({ tenant, principal }, sessionId)
      }
    },
    expect,
    delivered,
    forget,
  }
}

/** Adds the session to the list that all processes share, or removes it. */
async function list(
  store: AcpStore,
  { tenant, principal }: Caller,
  sessionId: string,
  isWaiting: boolean,
): Promise<void> {
  await changeValue(store, WAITING, (before) => {
    const places = placesIn(before)
    const others = places.filter(
      ([of, by, id]) => of !== tenant || by !== principal || id !== sessionId,
    )
    const isListed = others.length < places.length
    if (isListed === isWaiting) return undefined
    return isWaiting ? [...others, [tenant, principal, sessionId]] : others
  })
}

function placesIn(value: Json | undefined): [string, string, string][] {
  return (value ?? []) as [string, string, string][]
}

/** The most reminders that a session keeps: the limit of a task too. */
const MAX_KEPT = 64

/** Passes a reminder for a session to its task. A session without a task keeps it for the next one. */
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

/** Reminders that wait in a session for its next task. The row of the session stores them as JSON. */
type KeptReminder = ReminderRequest & { readonly id: string }

interface StoredReminders {
  readonly reminders?: readonly JsonObject[]
}

export function keptIn({ reminders = [] }: StoredReminders): readonly KeptReminder[] {
  return reminders.map((stored) => {
    const { id = '', ...reminder } = parse(reminderInput, stored, 'reminder')
    return { ...reminder, id }
  })
}

function withKept(reminders: readonly KeptReminder[]): Required<StoredReminders> {
  return { reminders: JSON.parse(JSON.stringify(reminders)) }
}
