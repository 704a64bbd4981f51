/** What `/ops` answers about holds. */

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
