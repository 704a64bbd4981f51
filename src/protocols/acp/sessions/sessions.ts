/**
 * Sessions: those that a client opened, and every context of the caller that has tasks. A context
 * that another protocol created gets a row when a client first changes it.
 */

import { RequestError } from '@agentclientprotocol/sdk'
import { isTerminal, type State, states } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Agent } from '../../../engine/author/agent.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import { untilWritten } from '../../../engine/upkeep/change-value.ts'
import type { AcpStore, SessionRow } from '../connection/context.ts'
import { createQueues } from './queues.ts'

export type Session = SessionRow

export interface Sessions {
  create(caller: Caller, given: { readonly cwd: string; readonly agent?: string }): Promise<Session>
  /**
   * @throws RequestError -32002 when the session does not exist, was deleted, or belongs to another
   * caller
   */
  get(caller: Caller, id: string): Promise<Session>
  /**
   * Changes a session. Changes of one session run one after the other, and none is lost when
   * another process makes one too.
   */
  change(
    caller: Caller,
    id: string,
    changed: (session: Session) => Partial<Session>,
  ): Promise<Session>
  /** Open tasks of the session, oldest first. */
  openTasks(caller: Caller, id: string): Promise<readonly Task[]>
  endedTasks(caller: Caller, id: string): Promise<readonly Task[]>
}

export interface SessionDeps extends Pick<EngineDeps, 'clock' | 'ids'> {
  readonly engine: Engine
  readonly store: AcpStore
  /** The working directory of sessions that no client opened. */
  readonly cwd: string
}

const open = states.filter((state) => !isTerminal(state))
const ended = states.filter(isTerminal)

/**
 * The key of a session in memory. It contains the caller, because two callers can use the same
 * session id.
 */
export function keyOf({ tenant, principal }: Caller, id: string): string {
  return JSON.stringify([tenant, principal, id])
}

/** The agent that gets the next prompt of the session. Undefined if it no longer exists. */
export function agentOf({ agents }: Pick<Engine, 'agents'>, { agent }: Session): Agent | undefined {
  return agent === undefined ? [...agents.values()][0] : agents.get(agent)
}

export function createSessions({ engine, store, clock, ids, cwd }: SessionDeps): Sessions {
  const changing = createQueues()

  async function rowOf({ tenant, principal }: Caller, id: string): Promise<Session | undefined> {
    if (id.length > 256) throw RequestError.sessionNotFound(id)
    const row = await store.session(tenant, principal, id)
    if (row?.deletedAt !== undefined) throw RequestError.sessionNotFound(id)
    return row
  }

  /** The session for a context of the caller that has no row yet. */
  async function contextOf(caller: Caller, id: string): Promise<Session> {
    const { tenant, principal } = caller
    const { tasks } = await engine.list(caller, { contextId: id, limit: 1 })
    const [task] = tasks
    if (task === undefined) throw RequestError.sessionNotFound(id)
    const { createdAt, statusAt: updatedAt, agent } = task
    return { tenant, principal, id, cwd, createdAt, updatedAt, agent }
  }

  async function get(caller: Caller, id: string): Promise<Session> {
    return (await rowOf(caller, id)) ?? contextOf(caller, id)
  }

  async function tasksOf(
    caller: Caller,
    contextId: string,
    among: readonly State[],
  ): Promise<readonly Task[]> {
    const found: Task[] = []
    let cursor: string | undefined
    do {
      const page = await engine.list(caller, { contextId, states: among, limit: 100, cursor })
      found.push(...page.tasks)
      cursor = page.cursor
    } while (cursor !== undefined)
    return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  }

  return {
    async create(caller, given) {
      const { tenant, principal } = caller
      const now = clock.now()
      const id = ids.uuid()
      const session = { tenant, principal, id, createdAt: now, updatedAt: now, ...given }
      await engine.admit(caller, weightOf(session))
      await store.putSession(session)
      return session
    },
    get,
    async change(caller, id, changed) {
      const leave = await changing.enter(keyOf(caller, id))
      try {
        return await untilWritten(`session ${id}`, async () => {
          const row = await rowOf(caller, id)
          const session = row ?? (await contextOf(caller, id))
          const next = { ...session, ...changed(session) }
          return (await store.replaceSession(row, next)) ? next : undefined
        })
      } finally {
        leave()
      }
    },
    openTasks: (caller, id) => tasksOf(caller, id, open),
    endedTasks: (caller, id) => tasksOf(caller, id, ended),
  }
}

/**
 * One watcher of the engine for all sessions, so that a write costs one look-up, however many
 * clients are attached.
 */
export interface Watching {
  /**
   * Calls `changed` after every durable write to a task of that context.
   * @returns a function that stops the calls
   */
  on(contextId: string, changed: (task: Task) => void): () => void
  close(): void
}

export function createWatching(engine: Engine): Watching {
  const watchers = new Map<string, Set<(task: Task) => void>>()
  const isAttached = (): boolean => watchers.size > 0
  const close = engine.watch((task) => {
    const watching = watchers.get(task.contextId)
    if (watching !== undefined) for (const changed of watching) changed(task)
  }, isAttached)
  return {
    on(contextId, changed) {
      const watching = watchers.get(contextId) ?? new Set()
      watchers.set(contextId, watching.add(changed))
      return () => {
        watching.delete(changed)
        if (watching.size === 0 && watchers.get(contextId) === watching) watchers.delete(contextId)
      }
    },
    close,
  }
}
