/** The logs, the effects of the steps and what the customers were told, against each other. */
import { readFileSync } from 'node:fs'
import { verifyReceipts } from '../../src/core/check-receipts.ts'
import { fold } from '../../src/core/evolve.ts'
import type { LogRecord } from '../../src/core/records.ts'
import type { State } from '../../src/core/states.ts'
import type { Store } from '../../src/ports/store.ts'
import { createSigner } from '../../src/server/system/signer.ts'
import { type Effect, parseEffect } from '../crash/effects-file.ts'
import { atOnce } from './at-once.ts'
import type { Account } from './customer.ts'
import { grouped } from './grouped.ts'
import { effectsIn, type LostLease, type Outage, RECEIPT_KEY } from './processes.ts'
import {
  beginsAfterLoss,
  faultsOfSteps,
  faultsOfWorkers,
  firstAfterStops,
  mostLate,
  SKEW_MS,
  stopsThatCost,
} from './runs.ts'

export interface Evidence {
  readonly home: string
  readonly store: Store
  readonly accounts: readonly Account[]
  readonly outages: readonly Outage[]
  readonly lost: readonly LostLease[]
  /** How much the clock of a process shows more than that of the machine. */
  readonly skewOf: (pid: number) => number
  /** When the first process started. */
  readonly begunAt: number
}

/** What is known of a task, when it has a fault or was begun late. */
export interface Exhibit extends Pick<Evidence, 'outages' | 'lost'> {
  readonly taskId: string
  readonly found: readonly string[]
  readonly log: readonly LogRecord[]
  readonly effects: readonly Effect[]
}

export interface Verdict {
  /** Everything that is wrong, in sentences. */
  readonly faults: readonly string[]
  readonly counts: Readonly<Record<string, number>>
  readonly exhibits: readonly Exhibit[]
}

/** How many tasks are read at a time. */
const READERS = 16

export async function judge(evidence: Evidence): Promise<Verdict> {
  const { home, store, accounts, outages, lost, skewOf, begunAt } = evidence
  const effects = readFileSync(effectsIn(home), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(parseEffect)
    .map((one) => ({ ...one, at: one.at - skewOf(one.pid) }))
  const byTask = grouped(effects, ({ taskId }) => taskId)
  // Children are known by their effects.
  const taskIds = new Set([...accounts.map(({ taskId }) => taskId), ...byTask.keys()])
  const signer = createSigner(Buffer.from(RECEIPT_KEY))
  const logs = new Map<string, readonly LogRecord[]>()
  const faults: string[] = []
  const exhibits: Exhibit[] = []
  const stops = stopsThatCost(outages, lost)
  const firsts = firstAfterStops(effects, stops)
  const accountOf = new Map(accounts.map((account) => [account.taskId, account]))
  let late = 0
  await atOnce(READERS, taskIds, async (taskId) => {
    const log = await store.records(taskId, 0, 100_000)
    logs.set(taskId, log)
    const stored = await store.load(taskId)
    const mine = byTask.get(taskId) ?? []
    const account = accountOf.get(taskId)
    const afterLoss = new Set(beginsAfterLoss(log, mine, stops))
    const inTime = mine.filter((one) => !(afterLoss.has(one) && firsts.has(one)))
    late += mine.length - inTime.length
    const found = [
      ...faultsOfLog(log, fold(log)?.state),
      ...faultsOfTimes(log, begunAt, Date.now()),
      ...(stored && same(fold(stored.records, stored.snapshot)) === same(fold(log))
        ? []
        : ['is stored as another task than it was logged']),
      ...verifyReceipts(log, signer).map(({ seq, problem }) => `record ${seq}: ${problem}`),
      ...faultsOfSteps(log, inTime),
      ...inTime
        .filter((one) => afterLoss.has(one))
        .map(({ name, pid }) => `began ${name} in ${pid}, which had lost it while it stood still`),
      ...(account === undefined ? [] : faultsOfAccount(account, log)),
    ]
    faults.push(...found.map((fault) => `task ${taskId} ${fault}`))
    if (found.length > 0 || inTime.length < mine.length) {
      const pids = new Set(mine.map(({ pid }) => pid))
      const of = <T extends { readonly pid: number }>(those: readonly T[]): readonly T[] =>
        those.filter(({ pid }) => pids.has(pid))
      exhibits.push({ taskId, found, log, effects: mine, outages: of(outages), lost: of(lost) })
    }
  })
  faults.push(...faultsOfWorkers(logs, lost))
  if (late > mostLate(stops.length)) {
    faults.push(`after ${late} of ${stops.length} stops a step began that others had taken over`)
  }
  return { faults, exhibits, counts: { ...countsOf(logs, accounts, effects), late } }
}

const same = (value: unknown): string => JSON.stringify(sorted(value))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]),
  )
}

/** Records have the time of the database, whatever the clocks of the processes show. */
export function faultsOfTimes(
  log: readonly LogRecord[],
  from: number,
  to: number,
): readonly string[] {
  const strange = log.filter(({ at }) => at < from - SKEW_MS || at > to + SKEW_MS)
  return strange.map(({ seq, at }) => `has record ${seq} at ${new Date(at).toISOString()}`)
}

/** @param state the state that the log leads to */
export function faultsOfLog(
  log: readonly LogRecord[],
  state: State | undefined,
): readonly string[] {
  const faults: string[] = []
  if (state !== 'completed') faults.push(`is ${state} after ${JSON.stringify(log.at(-1))}`)
  if (log.some(({ seq }, index) => seq !== index + 1)) faults.push('has a gap or a doubled record')
  const keys = log.flatMap((one) => ('key' in one && one.type !== 'attempt' ? [`${one.key}`] : []))
  if (new Set(keys).size < keys.length) faults.push('did one thing twice')
  const handles = log.flatMap((one) =>
    one.type === 'resumed' || one.type === 'pause-withdrawn' ? [one.handle] : [],
  )
  if (new Set(handles).size < handles.length) faults.push('was resumed twice from one stop')
  const positions = log.flatMap((one) => ('eventPos' in one ? [one.eventPos] : []))
  if (new Set(positions).size < positions.length) faults.push('was woken twice by one event')
  return faults
}

export function faultsOfAccount(account: Account, log: readonly LogRecord[]): readonly string[] {
  const { taskIds, resumes, messages, reminders } = account
  const faults: string[] = []
  if (taskIds.size > 1) faults.push(`was created ${taskIds.size} times by one key`)

  const wins = grouped(
    resumes.filter(({ outcome }) => outcome.kind === 'done'),
    ({ handle }) => handle,
  )
  for (const [handle, races] of wins) {
    const winners = new Set(races.map(({ key }) => key))
    const logged = log.flatMap((one) =>
      (one.type === 'resumed' || one.type === 'pause-withdrawn') && one.handle === handle
        ? [one.idempotencyKey]
        : [],
    )
    if (winners.size > 1) faults.push(`has two winners of the resume of ${handle}`)
    if (logged.length !== 1 || !winners.has(`${logged[0]}`)) {
      faults.push(`told ${[...winners]} that it won, and the log says ${logged}`)
    }
  }

  for (const [messageId, { kind }] of messages) {
    const times = log.filter(
      (one) =>
        (one.type === 'message' || one.type === 'answered' || one.type === 'asked-again') &&
        (one.type === 'asked-again' ? one.answer : one.message).messageId === messageId,
    ).length
    const wanted = kind === 'done' ? 1 : 0
    if (times !== wanted) faults.push(`has ${messageId} ${times} times, and it was ${kind}`)
  }
  for (const [id, { kind }] of reminders) {
    const times = log.filter(
      (one) => one.type === 'reminder-injected' && one.reminder.id === id,
    ).length
    const wanted = kind === 'done' ? 1 : 0
    if (times !== wanted) faults.push(`has ${id} ${times} times, and it was ${kind}`)
  }
  return faults
}

/** How much happened: a run in which nothing happened proves nothing. */
function countsOf(
  logs: ReadonlyMap<string, readonly LogRecord[]>,
  accounts: readonly Account[],
  effects: readonly Effect[],
): Readonly<Record<string, number>> {
  const records = [...logs.values()].flat()
  const times = (type: LogRecord['type']): number =>
    records.filter((one) => one.type === type).length
  const sum = (of: (account: Account) => number): number =>
    accounts.reduce((total, account) => total + of(account), 0)
  return {
    tasks: logs.size,
    records: records.length,
    started: times('started'),
    takenOver: records.filter((one) => one.type === 'started' && one.deaths > 0).length,
    steps: times('step'),
    begins: effects.filter(({ kind }) => kind === 'begin').length,
    parked: times('parked'),
    paused: times('paused'),
    resumed: times('resumed'),
    races: sum(({ resumes }) => resumes.length / 2),
    messages: sum(({ messages }) => messages.size),
    reminders: sum(({ reminders }) => reminders.size),
    events: sum(({ events }) => events.size),
    frames: sum(({ frames }) => frames.length),
  }
}
