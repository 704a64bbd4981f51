/**
 * Decides when the guard thread renews the lease:
 *
 *   0 ────────── a third of the lease ──────────────── blockedAfterMs ─────▶ time since the loop turned
 *     the loop renews            the thread renews                nobody does
 */
export interface Watched {
  /** Elapsed time in milliseconds. */
  readonly now: number
  /** How often the loop has turned. */
  readonly turns: number
  readonly leaseMs: number
  readonly blockedAfterMs: number
}

/** Returns a function that says whether the lease has to be renewed now. */
export function createLoopWatch(): (watched: Watched) => boolean {
  let seen: { readonly turns: number; readonly at: number } | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  return ({ now, turns, leaseMs, blockedAfterMs }) => {
    if (seen === undefined || turns !== seen.turns) seen = { turns, at: now }
    const stoodMs = now - seen.at
    const isDue = stoodMs >= leaseMs / 3 && now - renewedAt >= leaseMs / 3
    if (!isDue || stoodMs >= blockedAfterMs) return false
    renewedAt = now
    return true
  }
}
