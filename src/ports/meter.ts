/** Counters, timers and gauges for operators. `server/metrics` exposes them at `/metrics`. */
export interface Meter {
  add(name: CounterName, value?: number, label?: string): void
  observe(name: TimerName, ms: number): void
  set(name: GaugeName, value: number, label?: string): void
}

/** `label`: the name of its only label, which must have few different values. */
interface Instrument {
  readonly about: string
  readonly label?: string
}

interface Timer extends Instrument {
  /** `long`: durations up to a month. Default: up to a minute. */
  readonly range?: 'long'
}

export type CounterName =
  | 'lull_commits_total'
  | 'lull_store_failures_total'
  | 'lull_requests_refused_total'
  | 'lull_limits_total'
  | 'lull_stops_total'
  | 'lull_resumes_total'
  | 'lull_tasks_ended_total'
  | 'lull_pushes_total'
  | 'lull_leases_lost_total'

export type TimerName =
  | 'lull_commit_seconds'
  | 'lull_wake_lateness_seconds'
  | 'lull_start_delay_seconds'
  | 'lull_paused_seconds'
  | 'lull_task_seconds'

export type GaugeName = 'lull_push_backlog'

export const counters: Readonly<Record<CounterName, Instrument>> = {
  lull_commits_total: { about: 'Commits handed to the store' },
  lull_store_failures_total: { about: 'Batches of commits that the store could not write' },
  lull_requests_refused_total: { about: 'Requests refused before they were read', label: 'why' },
  lull_limits_total: { about: 'Calls refused because a limit was reached', label: 'limit' },
  lull_stops_total: { about: 'Stops of tasks', label: 'kind' },
  lull_resumes_total: { about: 'Tasks that went on after a stop', label: 'cause' },
  lull_tasks_ended_total: { about: 'Tasks that ended', label: 'state' },
  lull_pushes_total: { about: 'Deliveries to webhooks', label: 'outcome' },
  lull_leases_lost_total: { about: 'Times that this process lost its tasks to others' },
}

export const timers: Readonly<Record<TimerName, Timer>> = {
  lull_commit_seconds: { about: 'Time for one batch of commits' },
  lull_wake_lateness_seconds: { about: 'How late a task went on after its deadline or instant' },
  lull_start_delay_seconds: { about: 'Time from the creation of a task to its start' },
  lull_paused_seconds: { about: 'How long a task was stopped, when it goes on', range: 'long' },
  lull_task_seconds: { about: 'The age of a task when it ends', range: 'long' },
}

export const gauges: Readonly<Record<GaugeName, Instrument>> = {
  lull_push_backlog: { about: 'Webhooks of this process with something to send', label: 'kind' },
}

/** Measures nothing. */
export const noMeter: Meter = {
  add: () => undefined,
  observe: () => undefined,
  set: () => undefined,
}
