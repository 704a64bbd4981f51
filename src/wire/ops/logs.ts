/** What `/ops` answers about the log of a task: receipts, export and import. */

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

/** The first page has everything of a `TaskLog`, with the first of its records. The others have further records. */
export interface TaskLogPage extends Pick<TaskLog, 'records'> {
  readonly task?: TaskLog['task'] | undefined
  readonly row?: TaskLog['row']
  readonly faults?: TaskLog['faults'] | undefined
  readonly past?: TaskLog['past'] | undefined
  /** Absent on the last page. */
  readonly cursor?: string | undefined
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
  /**
   * `unknown-key`: the server does not have the key. The receipt may be genuine. `vouched`: the same, and an import of the task
   * names that key.
   */
  readonly verdict: 'genuine' | 'wrong' | 'unknown-key' | 'vouched'
  /** For `vouched`: the key that signed the receipt of the import, and when, in epoch milliseconds. */
  readonly vouchedBy?: { readonly keyId: string; readonly at: number } | undefined
  /** The signatures that are genuine. Receipts of old versions have only `hmac-sha256`. */
  readonly verifiedBy: readonly ('hmac-sha256' | 'ed25519')[]
}
