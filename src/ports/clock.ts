/**
 * The only source of time. It has three readings, each for its own kind of decision:
 *
 *              | goes on while the machine sleeps | moves when the wall clock is set | decides
 *   `now`      | yes                              | no                              | what is due, has expired, is recorded
 *   `elapsed`  | no                               | no                              | how long something takes in this process
 *   `wall`     | yes                              | yes                             | leases, and what foreign clocks have signed
 *
 * CL1  `now` is the time of the store. On a shared store it follows the clock of the database server. On an embedded store
 *      it begins with the wall clock when the process starts, and goes on with elapsed time and the time the machine slept.
 * CL2  Setting the wall clock, forwards or backwards, makes nothing due, expires nothing and stops nothing.
 * CL3  When the machine has slept, what came due meanwhile is due within seconds.
 */
export interface Clock {
  /** Epoch milliseconds (CL1). It can differ from what the wall clock shows. */
  readonly now: () => number
  /** Milliseconds since an arbitrary moment. It never decreases. */
  readonly elapsed: () => number
  /**
   * The wall clock of the machine in epoch milliseconds. A lease is measured by elapsed and by wall
   * time, whichever shows more, so that a process notices that the machine slept. Credentials
   * issued by others are checked with it, because they contain wall-clock times.
   */
  readonly wall: () => number
  /** Calls back once, after `ms` of elapsed time. `ms` has no upper limit. */
  readonly after: (ms: number, callback: () => void) => CancelTimer
  /** Calls back once, when `now` has reached the instant. */
  readonly at: (instant: number, callback: () => void) => CancelTimer
}

/** Cancels the timer. A timer does not keep the process alive. */
export type CancelTimer = () => void
