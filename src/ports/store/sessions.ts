import type { JsonObject } from '../../core/json.ts'
import type { Pruned } from './pruning.ts'

/** A conversation as an editor knows it: what it has beyond its tasks. Its id is the context's. */
export interface SessionRow {
  readonly tenant: string
  readonly principal: string
  readonly id: string
  readonly cwd: string
  readonly createdAt: number
  /** When it was last used. Lists are sorted by it. */
  readonly updatedAt: number
  readonly title?: string
  /** The agent its messages go to, where one was chosen. */
  readonly agent?: string
  /** Handles that clients made up, and the suspensions they stand for. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Reminders for its next task. */
  readonly reminders?: readonly JsonObject[]
  /** It is in no list any more. The row stays, so that its context does not come back as another session. */
  readonly deletedAt?: number
}

export interface SessionStore {
  /** The latest of each stands. */
  putSession(session: SessionRow): Promise<void>
  /** Deleted ones too. */
  session(tenant: string, principal: string, id: string): Promise<SessionRow | undefined>
  /** Those not deleted, by `updatedAt` descending, then id descending; `before` continues. */
  sessions(
    tenant: string,
    principal: string,
    before: { readonly updatedAt: number; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly SessionRow[]>
  /** Removes sessions last used before the instant whose context has no open task. Looks at up to `limit` sessions. */
  pruneSessions(updatedBefore: number, limit: number, after?: string): Promise<Pruned>
}
