/** What `/ops` answers about schedules. */

/** A schedule of an agent. Times are ISO 8601. */
export interface ScheduleSummary {
  /** `agent:name`. */
  readonly scheduleId: string
  readonly agent: string
  readonly name: string
  /** The cron expression with its time zone, or the interval. */
  readonly times: string
  readonly missed: 'skip' | 'run-once'
  readonly paused: boolean
  readonly pausedBy?: string | undefined
  /** Absent while it is paused. */
  readonly nextAt?: string | undefined
  readonly lastAt?: string | undefined
  readonly lastTaskId?: string | undefined
  /** Times that could not start a task, oldest first: the message failed, such as in the agent's `receive`. */
  readonly failed?: readonly FailedScheduleTime[] | undefined
}

export interface FailedScheduleTime {
  readonly time: string
  /** How often it was tried. */
  readonly attempts: number
  readonly why: string
  /** Absent: it is not tried again. */
  readonly retryAt?: string | undefined
}

/** A task that was started by hand. Without a task where the agent answered with a message. */
export interface ScheduleRun {
  readonly scheduleId: string
  readonly taskId?: string | undefined
}
