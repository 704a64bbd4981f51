/** What `/ops` answers about the server: its agents, its processes and its audit log. */

/** A process that serves the store. Times are ISO 8601. */
export interface WorkerSummary {
  readonly id: string
  /** Whether it is the process that answered. */
  readonly here: boolean
  /** Whether its lease holds. Tasks of a process without a lease go on in others. */
  readonly alive: boolean
  readonly agents: readonly string[]
  readonly host?: string | undefined
  readonly pid?: number | undefined
  readonly startedAt?: string | undefined
  /** When it renewed its lease last. Absent for an embedded store, which has no leases. */
  readonly heartbeatAt?: string | undefined
  readonly leaseUntil?: string | undefined
  /** How many tasks it runs. Operators of one tenant are not told this, nor host, process id and times. */
  readonly running?: number | undefined
  readonly draining: boolean
}

/** The queue of an agent in the process that answers. */
export interface QueueSummary {
  readonly agent: string
  /** How many of its tasks run at the same time. */
  readonly limit: number
  /** How many run. Operators of one tenant are not told this, nor how many wait. */
  readonly used?: number | undefined
  /** How many wait for others to stop or end. */
  readonly waiting?: number | undefined
}

/** An agent of the server. */
export interface AgentSummary {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the message that starts a task. Absent: any message does. */
  readonly input?: unknown
}

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
  readonly cursor?: string | undefined
}
