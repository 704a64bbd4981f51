/** Time as the engine sees it. Tests bring one that stands still until they move it. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  readonly now: () => number
  /** Calls back once, `ms` from now. Returns how to call it off. Never keeps a process alive by itself. */
  readonly after: (ms: number, callback: () => void) => () => void
}
