/**
 * Sessions that keep reminders for their next task. A prompt brings the reminders with it. A task that another protocol
 * creates in the session gets them when it appears. The list of these sessions is in the store, so that it works after a
 * restart, before any client connects.
 */
import type { Json } from '../../../core/json.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import { offersOf } from '../../../engine/offers.ts'
import { isOwn } from '../connection/address.ts'
import { keyOf, type Sessions } from '../sessions/sessions.ts'
import type { AcpStore } from '../sessions/store.ts'
import type { Watching } from '../sessions/watching.ts'
import { keptIn, withKept } from './kept-reminders.ts'

/** A list of `[tenant, principal, sessionId]`. */
export const WAITING = 'acp/waiting-reminders'

export interface WaitingReminders {
  start(): Promise<void>
  expect(caller: Caller, sessionId: string): Promise<void>
  /** A task has the reminders with these ids now. */
  delivered(caller: Caller, sessionId: string, ids: ReadonlySet<string>): Promise<void>
  /** The session was deleted. */
  forget(caller: Caller, sessionId: string): Promise<void>
}

export interface WaitingDeps extends Pick<EngineDeps, 'log'> {
  readonly engine: Engine
  readonly store: AcpStore
  readonly sessions: Sessions
  readonly watching: Watching
}

interface Expecting {
  readonly place: readonly [tenant: string, principal: string, sessionId: string]
  readonly unwatch: () => void
}

export function createWaitingReminders(deps: WaitingDeps): WaitingReminders {
  const { engine, store, sessions, watching, log } = deps
  const waiting = new Map<string, Expecting>()

  const keep = (): Promise<void> =>
    store.setValue(WAITING, [...waiting.values()].map(({ place }) => [...place]) as Json)

  function watch(caller: Caller, sessionId: string): void {
    const { tenant, principal } = caller
    const key = keyOf(caller, sessionId)
    if (waiting.has(key)) return
    const unwatch = watching.on(sessionId, (task) => {
      const theirs = task.tenant === tenant && task.principal === principal
      // A task of a prompt has them already.
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
    waiting.set(key, { place: [tenant, principal, sessionId], unwatch })
  }

  async function deliver(caller: Caller, sessionId: string, { id: taskId }: Task): Promise<void> {
    const kept = keptIn(await sessions.get(caller, sessionId))
    // Reminder ids are idempotent, so a repeat changes nothing.
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
    // Reminders that came meanwhile stay for the next task.
    if (keptIn(session).length === 0) await forget(caller, sessionId)
  }

  async function forget(caller: Caller, sessionId: string): Promise<void> {
    const key = keyOf(caller, sessionId)
    if (!waiting.has(key)) return
    waiting.get(key)?.unwatch()
    waiting.delete(key)
    await keep()
  }

  return {
    async start() {
      const known = ((await store.getValue(WAITING)) ?? []) as [string, string, string][]
      for (const [tenant, principal, sessionId] of known) watch({ tenant, principal }, sessionId)
    },
    async expect(caller, sessionId) {
      watch(caller, sessionId)
      await keep()
    },
    delivered,
    forget,
  }
}
