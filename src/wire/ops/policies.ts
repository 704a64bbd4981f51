/** What `/ops` answers about budgets and rules. */

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
