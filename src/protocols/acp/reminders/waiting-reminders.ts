/**
 * Sessions that keep reminders for their next task. A task created by a prompt gets them with the
 * prompt. A task that another protocol creates in the session gets them when it appears. The list
 * of these sessions is stored, so that this also works after a restart, before any client connects.
 */

import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import { offersOf } from '../../../engine/requests/offers.ts'
import { changeValue } from '../../../engine/upkeep/change-value.ts'
import { isOwn } from '../connection/address.ts'
import { keyOf, type Sessions } from '../sessions/sessions.ts'
import type { AcpStore } from '../sessions/store.ts'
import type { Watching } from '../sessions/watching.ts'
import { keptIn, withKept } from './kept-reminders.ts'

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
