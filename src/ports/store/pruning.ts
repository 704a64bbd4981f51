/**
 * The result of one call of a retention method. A call looks at a bounded number of rows, so that it does not block for
 * long. Rows that are still needed are kept.
 */
export interface PruneResult {
  readonly removed: number
  /** The cursor for the next call. Absent when all rows have been looked at. */
  readonly after?: string
}
