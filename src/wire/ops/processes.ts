/** What `/ops` answers about the processes of the cluster. */

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
