/** Which process ran a task when: the runs in the log, against the steps that really began. */
import type { LogRecord, RunToken } from '../../src/core/records.ts'
import type { Effect } from '../crash/effects-file.ts'
import { grouped } from './grouped.ts'
import type { LostLease, Outage } from './processes.ts'

/** Records have the time of the database, effects that of their process. They differ by less than this. */
export const SKEW_MS = 1_000

interface Run extends RunToken {
  readonly at: number
  /** From a process that had died or lost its lease. */
  readonly tookOver: boolean
}

function runsIn(log: readonly LogRecord[]): readonly Run[] {
  return log.flatMap((one) => {
    const run = 'run' in one ? one.run : undefined
    const tookOver = one.type === 'started' && one.deaths > 0
    return run === undefined ? [] : [{ ...run, at: one.at, tookOver }]
  })
}

/** A process notices within this time of going on that it has lost its lease, also when the database starts meanwhile. */
const NOTICED_MS = 10_000

/**
 * The times that cost a process its lease. Not every long stop does: the database can execute the last heartbeat late, and
 * the lease counts from then.
 */
export function stopsThatCost(
  outages: readonly Outage[],
  lost: readonly LostLease[],
): readonly Outage[] {
  return outages.filter(({ kind, pid, from, to }) => {
    const isNoticed = (one: LostLease): boolean => one.at >= from && one.at <= to + NOTICED_MS
    return kind === 'frozen' && lost.some((one) => one.pid === pid && isNoticed(one))
  })
}

/** The first thing a process does when it goes on, it does within this time. */
const AT_ONCE_MS = 250

/**
 * The first line that each process wrote when it went on, if it wrote it at once. A process looks at its lease immediately
 * before a step, and can be stopped between the two. Nothing prevents that. The step is then the first thing that happens
 * after the stop, and the only one that was looked at before.
 * @param effects of all tasks, in the order of the file
 * @param stops from `stopsThatCost`
 */
export function firstAfterStops(
  effects: readonly Effect[],
  stops: readonly Outage[],
): ReadonlySet<Effect> {
  const firsts = stops.map(({ pid, to }) => {
    const first = effects.find((one) => one.pid === pid && one.at >= to)
    return first !== undefined && first.at <= to + AT_ONCE_MS ? [first] : []
  })
  return new Set(firsts.flat())
}

/** How many stops may hit the moment between the look and the step. If the look were wrong, nearly every stop would. */
export const mostLate = (stops: number): number => Math.max(1, Math.floor(stops / 50))

/** The process that was each worker: the one in which most steps of its runs began. */
export function pidsOfWorkers(
  tasks: Iterable<{ readonly log: readonly LogRecord[]; readonly effects: readonly Effect[] }>,
): ReadonlyMap<string, number> {
  const begins = new Map<string, Map<number, number>>()
  for (const { log, effects } of tasks) {
    const runs = runsIn(log)
    for (const { kind, pid, at } of effects) {
      const run = runs.findLast((one) => one.at <= at)
      if (kind !== 'begin' || run === undefined) continue
      const times = begins.get(run.worker) ?? new Map<number, number>()
      begins.set(run.worker, times.set(pid, (times.get(pid) ?? 0) + 1))
    }
  }
  const most = (times: ReadonlyMap<number, number>): number =>
    [...times].reduce((a, b) => (b[1] > a[1] ? b : a))[0]
  return new Map([...begins].map(([worker, times]) => [worker, most(times)]))
}

/**
 * The steps that began in a process that had lost their run while it stood still.
 * @param stops from `stopsThatCost`
 * @param pids from `pidsOfWorkers`
 */
export function beginsAfterLoss(
  log: readonly LogRecord[],
  effects: readonly Effect[],
  stops: readonly Outage[],
  pids: ReadonlyMap<string, number>,
): readonly Effect[] {
  const runs = runsIn(log)
  return effects.filter(({ kind, pid, at }) => {
    const woke = stops.findLast((one) => one.pid === pid && one.to <= at)
    if (kind !== 'begin' || woke === undefined) return false
    const isItsOwn = ({ worker }: Run): boolean => (pids.get(worker) ?? pid) === pid
    return !runs.some((run) => isItsOwn(run) && run.at > woke.to - SKEW_MS && run.at < at + SKEW_MS)
  })
}

/**
 * A step begins once in each run, and never after its record. A process that is stopped between taking the time and writing
 * its line writes it later, so the lines of a step are not in the order of their times.
 */
export function faultsOfSteps(
  log: readonly LogRecord[],
  effects: readonly Effect[],
): readonly string[] {
  const faults: string[] = []
  const runs = runsIn(log)
  const begins = effects.filter(({ kind }) => kind === 'begin').sort((a, b) => a.at - b.at)
  for (const step of log.filter((one) => one.type === 'step')) {
    const occurrence = Number(step.key.slice(step.key.lastIndexOf('#') + 1))
    const mine = begins.filter((one) => one.name === step.name && one.occurrence === occurrence)
    if (mine.length === 0) faults.push(`recorded ${step.key}, which never began`)
    if (mine.some(({ at }) => at > step.at + SKEW_MS)) faults.push(`ran ${step.key} after its end`)
    for (const sameAttempt of grouped(mine, ({ attempt }) => attempt).values()) {
      if (sameAttempt.length > runs.length) faults.push(`began ${step.key} twice in one run`)
      const pids = sameAttempt.map(({ pid }) => pid)
      for (const [index, { pid, at }] of sameAttempt.entries()) {
        const next = sameAttempt[index + 1]
        if (next === undefined) continue
        const isTaken = runs.some((run) => run.at > at - SKEW_MS && run.at < next.at + SKEW_MS)
        if (!isTaken) faults.push(`began ${step.key} in ${pids} without a new run (${pid})`)
      }
    }
  }
  return faults
}

/**
 * A process that lost its lease goes on as another worker: the old one takes no run back, and begins no step in a run that
 * it takes any more. Taking one alone is no fault: the command can have waited for a slow database while the lease was lost.
 */
export function faultsOfWorkers(
  logs: ReadonlyMap<string, readonly LogRecord[]>,
  lost: readonly LostLease[],
  effects: ReadonlyMap<string, readonly Effect[]> = new Map(),
): readonly string[] {
  const faults: string[] = []
  const runsOf = [...logs].map(([taskId, log]) => [taskId, runsIn(log)] as const)
  const beginsIn = (pid: number, taskId: string, from: number, to: number): boolean =>
    (effects.get(taskId) ?? []).some(
      (one) => one.kind === 'begin' && one.pid === pid && one.at >= from && one.at < to,
    )
  for (const { pid, worker, at: lostAt } of lost) {
    for (const [taskId, runs] of runsOf) {
      const taken = runs.findIndex((run, n) => run.tookOver && runs[n - 1]?.worker === worker)
      if (taken >= 0 && runs.slice(taken).some((run) => run.worker === worker)) {
        faults.push(`task ${taskId} went back to ${worker}, from which it had been taken`)
      }
      const isLate = ({ worker: taker, at }: Run, n: number): boolean =>
        taker === worker &&
        at > lostAt + SKEW_MS &&
        beginsIn(pid, taskId, at, runs[n + 1]?.at ?? Number.POSITIVE_INFINITY)
      if (runs.some(isLate)) {
        faults.push(`task ${taskId} was begun by ${worker}, which had lost its lease`)
      }
    }
  }
  return faults
}
