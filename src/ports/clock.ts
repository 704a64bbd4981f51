/** The engine's only source of time. Tests use a clock that they move themselves. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds since some moment. Setting the wall clock does not change it. */
  readonly elapsed: () => number
  /** Calls back once, after `ms` have passed. `ms` has no upper limit. */
  readonly after: (ms: number, callback: () => void) => CancelTimer
  /**
   * Calls back once, when the wall clock has reached the instant. When the wall clock was set past the instant, or the
   * machine was suspended, it calls back within seconds.
   */
  readonly at: (instant: number, callback: () => void) => CancelTimer
}

/** Cancels the timer. A timer does not keep the process alive. */
export type CancelTimer = () => void
