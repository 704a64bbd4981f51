/** What `/ops` answers about tasks: lists, the change feed, stops, questions, timelines and webhooks. */

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
  /** Steps that were told to stop and did not. The task waits for them no longer, and they may still act. */
  readonly mayStillAct?: readonly string[] | undefined
  readonly stop?: StopSummary | undefined
  readonly question?: QuestionSummary | undefined
  /** When something happens by itself. */
  readonly dueAt?: string | undefined
  /** How far away `dueAt` is by the clock of the server. */
  readonly remainingMs?: number | undefined
  readonly usage: Readonly<Record<string, number>>
  /** The trace in which it was started or went on last. */
  readonly traceId?: string | undefined
}

/** The answer to an answer. */
export interface AnsweredTask {
  readonly task: TaskSummary
  /** The task is held: the answer is kept until the hold is lifted. */
  readonly kept: boolean
}

export interface ReminderAccepted {
  readonly reminderId: string
  readonly dedupedCount: number
  readonly acceptedAt: string
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
  /** The JSON Schema of the input that a resume must have. */
  readonly inputSchema?: unknown
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

/** What a list of tasks can be sorted by, beside the latest change first. `-` in front: descending. */
export type TaskOrder =
  | 'changed'
  | 'state'
  | '-state'
  | 'agent'
  | '-agent'
  | 'created'
  | '-created'
  | 'due'

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

/** Tasks that are stopped or ask, and what each waits for. */
export interface WaitingList {
  readonly tasks: readonly Readonly<Record<string, unknown>>[]
  /** How many there are on all pages. */
  readonly total: number
  /** Absent on the last page. */
  readonly cursor?: string | undefined
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
  readonly name?: string | undefined
  /** Of a turn. */
  readonly turn?: number | undefined
  /** Of a step: the execution that settled it. */
  readonly attempt?: number | undefined
  readonly outcome?: 'done' | 'failed' | 'interrupted' | 'skipped' | 'abandoned' | undefined
  /** What was said, asked or given as a reason; at most 400 characters. */
  readonly text?: string | undefined
  /** Of a model call. */
  readonly costUsd?: number | undefined
  readonly tokens?: number | undefined
  /** Who did it: of a stop, a wake, a hold, a cancel. */
  readonly by?: { readonly kind: string; readonly id: string } | undefined
  /** What went into it: of a start, a wake, a child. */
  readonly input?: ShownContent | undefined
  /** What came out of it: of a step or a tool. */
  readonly result?: ShownContent | undefined
}

/**
 * The beginning of content, as JSON. Members whose names tell of a secret are redacted. The log and the export have all of
 * it.
 */
export interface ShownContent {
  readonly json: string
  /** Something was left out, because the content is long. */
  readonly isCut: boolean
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
