/** What a process counts and times, for operators. `server/metrics` shows it at `/metrics`. */
export interface Meter {
  add(name: CounterName, value?: number, label?: string): void
  observe(name: TimerName, ms: number): void
}

export type CounterName =
  | 'lull_commits_total'
  | 'lull_store_failures_total'
  | 'lull_requests_refused_total'

export type TimerName = 'lull_commit_seconds' | 'lull_wake_lateness_seconds'

/** `label`: the name of its only label, which has few values. */
interface Instrument {
  readonly about: string
  readonly label?: string
}

export const counters: Readonly<Record<CounterName, Instrument>> = {
  lull_commits_total: { about: 'Commits handed to the store' },
  lull_store_failures_total: { about: 'Batches of commits that the store could not write' },
  lull_requests_refused_total: { about: 'Requests refused before they were read', label: 'why' },
}

export const timers: Readonly<Record<TimerName, Instrument>> = {
  lull_commit_seconds: { about: 'Time for one batch of commits' },
  lull_wake_lateness_seconds: { about: 'How late a task went on after its deadline or instant' },
}

/** Measures nothing. */
export const noMeter: Meter = { add: () => undefined, observe: () => undefined }
