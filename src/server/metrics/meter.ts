/** Counters and timers of this process, and their text in Prometheus' format (version 0.0.4). */
import {
  type CounterName,
  counters,
  type Meter,
  type TimerName,
  timers,
} from '../../ports/meter.ts'
import type { Family, Sample } from './prometheus-text.ts'

export interface ShownMeter extends Meter {
  families(): readonly Family[]
}

/** Upper limits in seconds. */
const BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60]
/** A label has few values. More than these would be a mistake, and are counted together. */
const MAX_LABELS = 50
const OTHER = 'other'

interface Timing {
  readonly counts: number[]
  sum: number
  count: number
}

export function createMeter(): ShownMeter {
  const added = new Map<CounterName, Map<string, number>>(
    counterNames.map((name) => [name, new Map()]),
  )
  const observed = new Map<TimerName, Timing>(
    timerNames.map((name) => [name, { counts: BUCKETS.map(() => 0), sum: 0, count: 0 }]),
  )

  return {
    add(name, value = 1, label = '') {
      const values = added.get(name)
      const key = values?.has(label) || (values?.size ?? 0) < MAX_LABELS ? label : OTHER
      values?.set(key, (values.get(key) ?? 0) + value)
    },
    observe(name, ms) {
      const timing = observed.get(name)
      if (timing === undefined) return
      const seconds = ms / 1_000
      const bucket = BUCKETS.findIndex((limit) => seconds <= limit)
      if (bucket >= 0) timing.counts[bucket] = (timing.counts[bucket] ?? 0) + 1
      timing.sum += seconds
      timing.count++
    },
    families: () => [
      ...counterNames.map((name) => counterFamily(name, added.get(name) ?? new Map())),
      ...[...observed].map(([name, timing]) => timerFamily(name, timing)),
    ],
  }
}

const counterNames = Object.keys(counters) as CounterName[]
const timerNames = Object.keys(timers) as TimerName[]

function counterFamily(name: CounterName, values: ReadonlyMap<string, number>): Family {
  const { about, label } = counters[name]
  const samples: Sample[] = [...values].map(([value, n]) => ({
    labels: label === undefined ? {} : { [label]: value },
    value: n,
  }))
  const none: Sample[] = label === undefined ? [{ labels: {}, value: 0 }] : []
  return { name, type: 'counter', about, samples: samples.length > 0 ? samples : none }
}

function timerFamily(name: TimerName, { counts, sum, count }: Timing): Family {
  let below = 0
  const buckets = BUCKETS.map((limit, index) => {
    below += counts[index] ?? 0
    return { suffix: '_bucket', labels: { le: String(limit) }, value: below }
  })
  const { about } = timers[name]
  const samples = [
    ...buckets,
    { suffix: '_bucket', labels: { le: '+Inf' }, value: count },
    { suffix: '_sum', labels: {}, value: sum },
    { suffix: '_count', labels: {}, value: count },
  ]
  return { name, type: 'histogram', about, samples }
}
