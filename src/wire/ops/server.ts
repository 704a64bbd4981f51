/** What `/ops` answers about the server: its agents, its processes and its audit log. */
import type { TaskSummary } from './tasks.ts'

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

/** Who asks, and what this credential allows. */
export interface Me {
  /** `*` for operators of all tenants. */
  readonly tenant: string
  readonly principal: string
  readonly scopes: readonly string[]
  /** Where a trace is shown; `{traceId}` stands for its id. */
  readonly traceUrl?: string | undefined
}

/** What happened lately, counted from the store. Times are ISO 8601. */
export interface Overview {
  readonly since: string
  /** How many tasks there are now of each state. */
  readonly counts: Readonly<Record<string, number>>
  /** The time in equal parts, the oldest first. */
  readonly spans: readonly OverviewSpan[]
  /** Half of the tasks that completed took at most so long. */
  readonly medianMs?: number | undefined
  readonly asking: {
    /** How many questions have waited up to 5 minutes, 30 minutes, 2 hours, 8 hours, a day, and longer. */
    readonly waits: readonly number[]
    /** The ones that wait longest. */
    readonly oldest: readonly TaskSummary[]
  }
  /** What most stopped tasks wait for. */
  readonly waitsFor: readonly { readonly name: string; readonly tasks: number }[]
  /** What falls due next. */
  readonly wakes: readonly TaskSummary[]
  /** Of the tasks that changed last, the most expensive agent first. */
  readonly agents: readonly AgentFigures[]
  /** Why tasks failed, of the tasks that changed last. */
  readonly failures: readonly {
    readonly agent: string
    readonly text: string
    readonly tasks: number
  }[]
  /** How many of the tasks that changed last were read for `agents` and `failures`. */
  readonly read: number
  /** More tasks changed than `spans` counts. */
  readonly isCut: boolean
}

export interface OverviewSpan {
  /** When it begins. */
  readonly at: string
  readonly started: number
  readonly completed: number
  /** Failed or rejected. */
  readonly failed: number
  readonly canceled: number
}

export interface AgentFigures {
  readonly agent: string
  readonly tasks: number
  readonly costUsd: number
  readonly tokens: number
}
