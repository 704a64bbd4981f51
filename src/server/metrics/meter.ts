/** Counters and timers of this process, and their text in the Prometheus format (version 0.0.4). */

import {
  type CounterName,
  counters,
  type GaugeName,
  gauges,
  type Meter,
  type TimerName,
  timers,
} from '../../ports/meter.ts'

export interface ShownMeter extends Meter {
  families(): readonly Family[]
}

/** Upper bounds of the buckets, in seconds. */
const BUCKETS = {
  short: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
  long: [0.1, 1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000],
} as const
/** The most values of a label. More would be a mistake, and are counted together. */
const MAX_LABELS = 50
const OTHER = 'other'

interface Timing {
  readonly limits: readonly number[]
  readonly counts: number[]
  sum: number
  count: number
}

export function createMeter(): ShownMeter {
  const added = new Map<CounterName, Map<string, number>>(
    counterNames.map((name) => [name, new Map()]),
  )
  const observed = new Map<TimerName, Timing>(
    timerNames.map((name) => {
      const limits = BUCKETS[timers[name].range ?? 'short']
      return [name, { limits, counts: limits.map(() => 0), sum: 0, count: 0 }]
    }),
  )
  const levels = new Map<GaugeName, Map<string, number>>(
    gaugeNames.map((name) => [name, new Map()]),
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
      const bucket = timing.limits.findIndex((limit) => seconds <= limit)
      if (bucket >= 0) timing.counts[bucket] = (timing.counts[bucket] ?? 0) + 1
      timing.sum += seconds
      timing.count++
    },
    set: (name, value, label = '') => void levels.get(name)?.set(label, value),
    families: () => [
      ...counterNames.map((name) => labelled('counter', name, counters[name], added.get(name))),
      ...gaugeNames.map((name) => labelled('gauge', name, gauges[name], levels.get(name))),
      ...[...observed].map(([name, timing]) => timerFamily(name, timing)),
    ],
  }
}

const counterNames = Object.keys(counters) as CounterName[]
const timerNames = Object.keys(timers) as TimerName[]
const gaugeNames = Object.keys(gauges) as GaugeName[]

function labelled(
  type: Family['type'],
  name: string,
  { about, label }: { readonly about: string; readonly label?: string },
  values: ReadonlyMap<string, number> = new Map(),
): Family {
  const samples: Sample[] = [...values].map(([value, n]) => ({
    labels: label === undefined ? {} : { [label]: value },
    value: n,
  }))
  const none: Sample[] = label === undefined ? [{ labels: {}, value: 0 }] : []
  return { name, type, about, samples: samples.length > 0 ? samples : none }
}

function timerFamily(name: TimerName, { limits, counts, sum, count }: Timing): Family {
  let below = 0
  const buckets = limits.map((limit, index) => {
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

/** One value in the text format of Prometheus, version 0.0.4. */
export interface Sample {
  readonly suffix?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly about: string
  readonly samples: readonly Sample[]
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

export function textOf(families: readonly Family[]): string {
  return families.map(familyText).join('')
}

function familyText({ name, type, about, samples }: Family): string {
  const lines = samples.map(
    ({ suffix = '', labels, value }) => `${name}${suffix}${labelText(labels)} ${value}\n`,
  )
  return `# HELP ${name} ${about}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
