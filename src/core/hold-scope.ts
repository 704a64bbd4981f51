/** The tasks that a hold, a budget or a rule applies to. */
export type HoldScope =
  | { readonly all: true }
  | { readonly tenant: string }
  | { readonly tenant?: string; readonly agent: string }
  | { readonly tenant?: string; readonly contextId: string }
  | { readonly tenant?: string; readonly taskIds: readonly string[] }
