/**
 * Sessions: conversations an editor opened, and every context of the caller that has tasks, however they came. What a
 * session needs beyond its tasks (the working directory, a title) is kept in the store under its id.
 */
import { RequestError } from '@agentclientprotocol/sdk'
import type { JsonObject } from '../../core/json.ts'
import { isTerminal, states } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Caller } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcpStore } from './store.ts'

export interface Session {
  readonly id: string
  readonly cwd: string
  readonly createdAt: number
  /** Which agent its prompts go to; the first one when absent. */
  readonly agent?: string
}

export interface Sessions {
  create(caller: Caller, given: { readonly cwd: string; readonly agent?: string }): Promise<Session>
  /** @throws RequestError -32002 where there is none, or where it is another's */
  get(caller: Caller, id: string): Promise<Session>
  /** Its tasks that have not ended, oldest first. */
  openTasks(caller: Caller, id: string): Promise<readonly Task[]>
}

export interface SessionDeps extends Pick<EngineDeps, 'clock' | 'ids'> {
  readonly engine: Engine
  readonly store: AcpStore
  /** The working directory of sessions that no editor opened. */
  readonly cwd: string
}

const open = states.filter((state) => !isTerminal(state))

export function createSessions({ engine, store, clock, ids, cwd }: SessionDeps): Sessions {
  const place = ({ tenant, principal }: Caller, id: string): string =>
    `acp/session/${JSON.stringify([tenant, principal, id])}`

  async function known(caller: Caller, id: string): Promise<Session | undefined> {
    const kept = await store.getFact(place(caller, id))
    if (kept !== undefined && kept !== null) return kept as unknown as Session
    const { tasks } = await engine.list(caller, { contextId: id, limit: 1 })
    const [task] = tasks
    return task && { id, cwd, createdAt: task.createdAt, agent: task.agent }
  }

  return {
    async create(caller, given) {
      const session: Session = { id: ids.uuid(), createdAt: clock.now(), ...given }
      await store.setFact(place(caller, session.id), session as unknown as JsonObject)
      return session
    },
    async get(caller, id) {
      const session = id.length > 256 ? undefined : await known(caller, id)
      if (session === undefined) throw RequestError.sessionNotFound(id)
      return session
    },
    async openTasks(caller, id) {
      const found: Task[] = []
      let cursor: string | undefined
      do {
        const page = await engine.list(caller, { contextId: id, states: open, limit: 100, cursor })
        found.push(...page.tasks)
        cursor = page.cursor
      } while (cursor !== undefined)
      return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },
  }
}
