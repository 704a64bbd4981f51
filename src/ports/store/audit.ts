/** The audit log: who did what. Entries are only added, and removed by age. */
export interface AuditStore {
  /** Adds entries. An entry that is already stored is skipped. */
  appendAudit(entries: readonly AuditEntry[]): Promise<void>
  /** An absent member of the query filters nothing. */
  audit(query: AuditQuery): Promise<readonly AuditEntry[]>
  pruneAudit(before: number, limit: number): Promise<number>
}

/** An audit entry has only names and ids, and no content: no reason, no input, no token. */
export interface AuditEntry {
  readonly id: string
  readonly at: number
  /**
   * The tenant of the caller. `*` when the caller is not known; then only operators of all tenants
   * see the entry.
   */
  readonly tenant: string
  /** Absent when the caller is not known. */
  readonly principal?: string | undefined
  readonly operator?: true | undefined
  /** The id of the API key that the caller used. */
  readonly credential?: string | undefined
  /** The action, such as `task.pause`. */
  readonly action: string
  readonly taskId?: string | undefined
  /**
   * What else the action concerns: the id of a hold, a key or a webhook, or the route of a request.
   */
  readonly target?: string | undefined
  /** `done`, or the code of the refusal. */
  readonly outcome: string
  /** The network address of a caller that is not known. With `further`, its IPv6 network. */
  readonly from?: string | undefined
  /**
   * How many further refused attempts like this one were made. They have no entries of their own.
   */
  readonly further?: number | undefined
}

export interface AuditQuery {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly taskId?: string | undefined
  /** Only entries of this instant and later ones. */
  readonly since?: number | undefined
  /** By time. `asc`, the default: oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc' | undefined
  /** Only entries that follow this one, in that order. It may have been removed. */
  readonly after?: Pick<AuditEntry, 'at' | 'id'> | undefined
  readonly limit: number
}
