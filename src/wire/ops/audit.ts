/** What `/ops` answers about the audit. */

/** One entry of the audit log: names and ids, no content. */
export interface AuditSummary {
  readonly at: string
  /** Of the caller. `*` when the caller is not known. */
  readonly tenant: string
  readonly principal?: string | undefined
  readonly operator?: true | undefined
  /** The id of the API key that was shown. */
  readonly credential?: string | undefined
  /** Such as `task.pause`. */
  readonly action: string
  readonly taskId?: string | undefined
  /** What else was meant: the id of a hold, a key or a webhook, or the route of a request. */
  readonly target?: string | undefined
  /** `done`, or the code of the refusal. */
  readonly outcome: string
  /** The network address of a caller that is not known. */
  readonly from?: string | undefined
  /** How many further attempts like this one were refused. */
  readonly further?: number | undefined
}

export interface AuditPage {
  readonly entries: readonly AuditSummary[]
  /** Absent on the last page. */
  readonly cursor?: string
}
