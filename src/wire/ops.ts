/** What `/ops` answers. The server makes these, the client and the dashboard read them. */

/** A task as lists, the dashboard and the change feed show it. Times are ISO 8601. */
export interface TaskSummary {
  readonly taskId: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly parentId?: string | undefined
  /** The task whose past this one has. */
  readonly forkedFrom?: string | undefined
  readonly state: string
  /** Grows with every change. */
  readonly version: number
  readonly createdAt: string
  /** Since when it is in this state. */
  readonly since: string
  /** The beginning of the message that started it. */
  readonly title: string
  /** What it does or waits for, in a sentence. */
  readonly says: string
  readonly progress?: number | undefined
  readonly turn: number
  /** A pause was accepted, and the step in flight has not finished yet. */
  readonly pausing: boolean
  readonly held: boolean
  readonly stop?: StopSummary | undefined
  readonly question?: QuestionSummary | undefined
  /** When something happens by itself. */
  readonly dueAt?: string | undefined
  /** How far away `dueAt` is by the clock of the server. */
  readonly remainingMs?: number | undefined
  readonly usage: Readonly<Record<string, number>>
}

/** The stop a task is in, or comes to. */
export interface StopSummary {
  readonly handle: string
  readonly initiator: 'client' | 'agent'
  readonly actor: { readonly kind: string; readonly id: string }
  readonly reason?: string | undefined
  readonly summary?: string | undefined
  /** Null: only a resume ends it. */
  readonly conditions: unknown
  /** What wakes it, in words. */
  readonly wakes: string
  readonly deadlineAt?: string | undefined
}

export interface QuestionSummary {
  readonly prompt: string
  readonly consentId?: string | undefined
  /** What the user is asked to allow, and its digest. */
  readonly operation?: unknown
  readonly digest?: string | undefined
  /** The answers that are offered. The answer must be one of them. */
  readonly choices?:
    | readonly { readonly value: string; readonly label?: string | undefined }[]
    | undefined
  /** The JSON Schema of the answer. */
  readonly schema?: unknown
}

/** An agent of the server. */
export interface AgentSummary {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the message that starts a task. Absent: any message does. */
  readonly input?: unknown
}

export interface TaskList {
  readonly tasks: readonly TaskSummary[]
  /** All that match, on every page. */
  readonly total: number
  /** How many there are of each state, with every filter but the state's own. */
  readonly counts: Readonly<Record<string, number>>
  /** For the next page; absent on the last. */
  readonly cursor?: string | undefined
  /** Of a search: how many tasks were read. `total` is then how many of them match, and `counts` is empty. */
  readonly searched?: number | undefined
}

export interface HoldSummary {
  readonly holdId: string
  readonly scope: Readonly<Record<string, unknown>>
  readonly reason: string
  /** Tasks yet to come are held too. */
  readonly holdNew: boolean
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: string
}

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

/** A schedule of an agent. Times are ISO 8601. */
export interface ScheduleSummary {
  /** `agent:name`. */
  readonly scheduleId: string
  readonly agent: string
  readonly name: string
  /** The cron expression with its time zone, or the interval. */
  readonly times: string
  readonly missed: 'skip' | 'run-once'
  readonly paused: boolean
  readonly pausedBy?: string | undefined
  /** Absent while it is paused. */
  readonly nextAt?: string | undefined
  readonly lastAt?: string | undefined
  readonly lastTaskId?: string | undefined
}

/** A task that was started by hand. Without a task where the agent answered with a message. */
export interface ScheduleRun {
  readonly scheduleId: string
  readonly taskId?: string | undefined
}

/** What a hold would stop. */
export interface HoldPreview {
  readonly tasks: number
  readonly states: Readonly<Record<string, number>>
  readonly alreadyHeld: number
  /** Ids of some of them. */
  readonly sample: readonly string[]
}

export interface HoldResult {
  readonly holdId: string
  readonly outcomes: readonly {
    readonly taskId: string
    readonly outcome: 'held' | 'already_held' | 'terminal' | 'unknown'
  }[]
}

export interface LiftResult {
  readonly holdId: string
  /** How many tasks the hold was lifted from. */
  readonly tasks: number
}

export interface ReceiptReport {
  readonly taskId: string
  /** How many records were checked. */
  readonly records: number
  readonly receipts: readonly ReceiptSummary[]
  /** Whether every receipt is genuine and none is missing. */
  readonly verified: boolean
  /** Empty when it is verified. */
  readonly faults: readonly {
    readonly seq: number
    readonly problem: string
    /** The id of a key that the server does not have. The receipt may be genuine. */
    readonly unknownKey?: string | undefined
  }[]
}

/** Everything that is stored of a task. */
export interface TaskLog {
  /** As the server shows it. */
  readonly task: Readonly<Record<string, unknown>>
  readonly row?: Readonly<Record<string, unknown>> | undefined
  /** From the first one on. */
  readonly records: readonly Readonly<Record<string, unknown>>[]
  /** What is wrong with the receipts. */
  readonly faults: ReceiptReport['faults']
  /** What the task sees of its context. */
  readonly past: {
    readonly messages: readonly Readonly<Record<string, unknown>>[]
    readonly tasks: readonly Readonly<Record<string, unknown>>[]
  }
}

/** A webhook of a task. Times are ISO 8601. */
export interface WebhookSummary {
  readonly webhookId: string
  /** The origin of its address. The rest of the address is a secret of the receiver. */
  readonly to: string
  /** `failed`: the delivery was given up. */
  readonly status: 'open' | 'failed' | 'done'
  /** Everything up to this record of the log has been delivered. */
  readonly deliveredSeq: number
  /** Failed attempts of the current delivery. */
  readonly attempts: number
  readonly retryAt?: string | undefined
  readonly failedAt?: string | undefined
  /** Why the last attempt failed. */
  readonly error?: string | undefined
}

/** A task as one file: a signed header, and the records of its log. */
export interface ExportedTask {
  readonly header: object
  readonly records: readonly object[]
}

export interface ImportedTask {
  readonly taskId: string
  readonly state: string
  readonly records: number
  /** Lifting it lets the task go on. Absent for a task that has ended, or that was started. */
  readonly holdId?: string | undefined
  /** Children of the task that are not on this server. */
  readonly missingChildren: readonly string[]
}

/** One receipt, and what the server's check has shown. */
export interface ReceiptSummary {
  /** The number of its record in the log. */
  readonly seq: number
  /** `SuspensionReceipt`, `ResumptionReceipt`, `DrainDecisionReceipt`, `ImportReceipt`. */
  readonly kind: string
  /** 1, 2, 3… within the task. */
  readonly number: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly keyId: string
  readonly facts: Readonly<Record<string, unknown>>
  /** `unknown-key`: the server does not have the key. The receipt may be genuine. */
  readonly verdict: 'genuine' | 'wrong' | 'unknown-key'
  /** The signatures that are genuine. Receipts of old versions have only `hmac-sha256`. */
  readonly verifiedBy: readonly ('hmac-sha256' | 'ed25519')[]
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
  readonly cursor?: string
}

/** One message of the change feed. */
export interface Changes {
  /** Tasks that changed since the message before, each as it is now. */
  readonly tasks: readonly TaskSummary[]
  /** More changed than a message holds: read the list again. */
  readonly more: boolean
}

/** One visible record of a task's log. */
export interface TimelineEntry {
  /** The number of the record in the log. */
  readonly seq: number
  readonly at: string
  readonly kind: TimelineKind
  /** The type of the record. */
  readonly event: string
  /** Of a step, a tool, an artifact, a child's agent. */
  readonly name?: string
  /** Of a turn. */
  readonly turn?: number
  /** Of a step: the execution that settled it. */
  readonly attempt?: number
  readonly outcome?: 'done' | 'failed' | 'interrupted' | 'skipped'
  /** What was said, asked or given as a reason; at most 400 characters. */
  readonly text?: string
  /** Of a model call. */
  readonly costUsd?: number
  readonly tokens?: number
}

export type TimelineKind =
  | 'task'
  | 'turn'
  | 'step'
  | 'tool'
  | 'output'
  | 'message'
  | 'question'
  | 'stop'
  | 'wake'
  | 'hold'
  | 'child'
  | 'reminder'
  | 'usage'

export interface TimelinePage {
  readonly entries: readonly TimelineEntry[]
  /** Where the next page begins. */
  readonly after: number
  readonly more: boolean
}

export interface BudgetSummary {
  readonly budgetId: string
  readonly scope: Readonly<Record<string, unknown>>
  readonly measure: 'inputTokens' | 'outputTokens' | 'tokens' | 'costUsd' | 'wallMs' | 'turns'
  /** In the measure, as all amounts here. */
  readonly limit: number
  readonly per: 'hour' | 'day' | 'life'
  readonly spent: number
  /** The limit, and what was refilled in this period. */
  readonly allowed: number
  readonly percent: number
  readonly usedUp: boolean
  /** When the count began. */
  readonly since: string
  /** When the next period begins. Absent for `life`. */
  readonly nextPeriodAt?: string | undefined
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: string
}

export interface BudgetResult {
  readonly budget: BudgetSummary
  /** How many tasks go on that the budget had stopped. */
  readonly resumed: number
}

export interface RuleSummary {
  readonly ruleId: string
  /** Events of this tenant fire it. `*` is every tenant. */
  readonly tenant: string
  readonly onEvent?: string | undefined
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  readonly budget?: { readonly id: string; readonly percent: number } | undefined
  readonly scope: Readonly<Record<string, unknown>>
  readonly mode: 'interrupt_immediate' | 'finish_step' | 'wait_for_completion'
  readonly reason: string
  readonly holdNew: boolean
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: string
}

/** What a rule would have stopped. */
export interface RuleDryRun {
  readonly since: string
  /** How often the rule would have fired. */
  readonly fired: number
  /** The first of them. */
  readonly firings: readonly {
    /** The id of the event or of the budget. */
    readonly cause: string
    /** The type of the event. */
    readonly type?: string | undefined
    readonly at: string
    readonly tasks: number
  }[]
  /** How many different tasks it would have stopped. */
  readonly tasks: number
  /** The ids of some of them. */
  readonly sample: readonly string[]
  /** More events or tasks are stored than were looked at. */
  readonly truncated: boolean
}
