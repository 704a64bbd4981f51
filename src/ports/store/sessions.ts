import type { JsonObject } from '../../core/values/json.ts'
import type { PruneResult } from './pruning.ts'

/**
 * A conversation of an editor. Its id is the context id. The row has what is not in the tasks of
 * the context.
 */
export interface SessionRow {
  readonly tenant: string
  readonly principal: string
  readonly id: string
  readonly cwd: string
  readonly createdAt: number
  /** When the session was last used. Lists are sorted by it. */
  readonly updatedAt: number
  readonly title?: string
  /** The agent that gets the messages. Absent when the client chose none. */
  readonly agent?: string
  /** Handles chosen by clients, each with the handle of its suspension. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Reminders for the next task of the session. */
  readonly reminders?: readonly JsonObject[]
  /** A deleted session is not listed. The row stays, so that its context does not reappear as another session. */
  readonly deletedAt?: number
}

export interface SessionStore {
  /** Inserts or replaces. */
  putSession(session: SessionRow): Promise<void>
  /**
   * Writes the session if the stored one equals `before` (undefined: none is stored). False: it
   * does not, and this call wrote nothing. After a lost connection, an earlier attempt of the same
   * call may have written it.
   */
  replaceSession(before: SessionRow | undefined, after: SessionRow): Promise<boolean>
  /** Also finds deleted sessions. */
  session(tenant: string, principal: string, id: string): Promise<SessionRow | undefined>
  /** Sessions that are not deleted, by `updatedAt` descending, then id descending, after the cursor `before`. */
  sessions(
    tenant: string,
    principal: string,
    before: { readonly updatedAt: number; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly SessionRow[]>
  /** Removes sessions last used before `updatedBefore` whose context has no open task. Looks at up to `limit` sessions. */
  pruneSessions(updatedBefore: number, limit: number, after?: string): Promise<PruneResult>
}
