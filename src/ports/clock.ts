/** Time as the engine sees it. Tests bring a clock that moves only when they say so. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  readonly now: () => number
  /** Calls back once, after `ms` have passed, however many they are. */
  readonly after: (ms: number, callback: () => void) => CancelTimer
  /**
   * Calls back once, when the wall clock has reached the instant. It also does so within seconds after the wall clock was
   * set, or the machine was suspended, past the instant.
   */
  readonly at: (instant: number, callback: () => void) => CancelTimer
}

/** Calls the timer off. A timer never keeps a process alive. */
export type CancelTimer = () => void
