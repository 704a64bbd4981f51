/**
 * What one call of a retention method did. A call looks at a bounded number of things, so that it never blocks for long;
 * not everything it looks at can be removed.
 */
export interface Pruned {
  readonly removed: number
  /** Where the next call goes on. Absent when there is nothing more to look at. */
  readonly after?: string
}
