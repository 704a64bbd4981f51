/** What `/ops` answers about holds, budgets, rules and schedules. */

export interface HoldSummary {
  readonly holdId: string
  /** In the list of holds, `taskIds` has the first ids only. */
  readonly scope: Readonly<Record<string, unknown>>
  /** How many ids `taskIds` of the scope has, if it names tasks. */
  readonly tasks?: number | undefined
  readonly reason: string
  /** Tasks yet to come are held too. */
  readonly holdNew: boolean
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: string
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
    /** Its running step was told to stop and has not ended yet. */
    readonly pausing?: true | undefined
    /** Steps that were told to stop before and did not. They may act although the task is held. */
    readonly mayStillAct?: readonly string[] | undefined
  }[]
}

export interface LiftResult {
  readonly holdId: string
  /** How many tasks the hold was lifted from. */
  readonly tasks: number
}

/** A budget, and how far it is used. */
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
  /** Times that could not start a task, oldest first: the message failed, such as in the agent's `receive`. */
  readonly failed?: readonly FailedScheduleTime[] | undefined
}

export interface FailedScheduleTime {
  readonly time: string
  /** How often it was tried. */
  readonly attempts: number
  readonly why: string
  /** Absent: it is not tried again. */
  readonly retryAt?: string | undefined
}

/** A task that was started by hand. Without a task where the agent answered with a message. */
export interface ScheduleRun {
  readonly scheduleId: string
  readonly taskId?: string | undefined
}
