/** What callers of the `/ops` interface send. */
import type { PauseMode } from '../core/suspension.ts'
import type { JsonInput } from '../core/values/json.ts'
import type { BudgetSummary, RuleSummary } from '../wire/ops/control.ts'
import type { TaskOrder } from '../wire/ops/tasks.ts'

export interface TaskFilter {
  readonly states?: readonly string[] | undefined
  readonly agent?: string | undefined
  readonly contextId?: string | undefined
  readonly parentId?: string | undefined
  readonly held?: boolean | undefined
  /** Words that a task must show, or parts of its id. Reads at most 1,000 tasks; `cursor` continues with older ones. */
  readonly q?: string | undefined
  /** Another order than the latest change first. `-` in front: descending. */
  readonly sort?: TaskOrder | undefined
  /** False: without counts per state, which saves the server a query for each state. */
  readonly counts?: boolean | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export interface HoldInput {
  /** `{all: true}`, or an object with one of `tenant`, `agent`, `contextId`, `taskIds`. */
  readonly scope: Readonly<Record<string, unknown>>
  readonly reason: string
  readonly holdNew?: boolean | undefined
}

export interface BudgetInput {
  /** Which tasks share the budget, written as the scope of a hold. */
  readonly scope: Readonly<Record<string, unknown>>
  readonly measure: BudgetSummary['measure']
  readonly limit: number
  /** Default `life`. */
  readonly per?: BudgetSummary['per'] | undefined
  /** False: tasks that the budget has stopped stay stopped. */
  readonly resume?: boolean | undefined
}

export interface RefillInput {
  /** Absent: the count starts again at zero. */
  readonly amount?: number | undefined
  readonly resume?: boolean | undefined
}

/** Has exactly one of `onEvent`, `filter` and `budget`. */
export interface RuleInput extends HoldInput {
  readonly onEvent?: string | undefined
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  readonly budget?: { readonly id: string; readonly percent: number } | undefined
  readonly mode?: RuleSummary['mode'] | undefined
}

export interface ForkInput {
  /** The operation that runs next: its name, with `#2` for the second of that name, or the number of its record. */
  readonly at: string
  /** Passed to the new task as the input of its resume. */
  readonly input?: JsonInput | undefined
  /** The new task stays paused until it is resumed. */
  readonly paused?: boolean | undefined
  /** A caller that repeats the request with the same key gets the task of the first request. */
  readonly idempotencyKey?: string | undefined
}

export interface OpsPauseInput {
  readonly reason?: string | undefined
  readonly mode?: PauseMode | undefined
  readonly conditions?: Readonly<Record<string, unknown>> | undefined
  /** How long the answer may wait until the task is paused, at most 60,000. */
  readonly graceMs?: number | undefined
  readonly cascade?: boolean | undefined
}

export interface OpsResumeInput {
  readonly handle?: string | undefined
  readonly input?: JsonInput | undefined
  readonly continueTranscript?: boolean | undefined
  /** With `idempotencyKey`, a repeated resume gets the first answer. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Has `answer`, or `consentId` and `decision`. */
export interface AnswerInput {
  readonly answer?: JsonInput | undefined
  readonly consentId?: string | undefined
  readonly decision?: 'granted' | 'denied' | undefined
  readonly comment?: string | undefined
  /** Granted in place of the one that was asked for, where the consent is editable. */
  readonly operation?: JsonInput | undefined
  readonly idempotencyKey?: string | undefined
}

export interface PageInput {
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export interface AuditFilter {
  /** An ISO 8601 instant. */
  readonly since?: string | undefined
  readonly principal?: string | undefined
  readonly taskId?: string | undefined
  /** `asc`, the default: oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc' | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}
