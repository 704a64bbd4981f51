/** The logs, the effects of the steps and what the customers were told, against each other. */
import { readFileSync } from 'node:fs'
import { verifyReceipts } from '../../src/core/receipts/check-receipts.ts'
import type { LogRecord } from '../../src/core/records.ts'
import type { Store } from '../../src/ports/store.ts'
import { createSigner } from '../../src/server/system/signer.ts'
import { keyIn } from '../../src/testing/key-in.ts'
import { type Effect, parseEffect } from '../crash/effects-file.ts'
import { atOnce } from './at-once.ts'
import type { Account } from './customer.ts'
import { grouped } from './grouped.ts'
import { effectsIn, type LostLease, type Outage, type Processes, RECEIPT_KEY } from './processes.ts'
import {
  beginsAfterLoss,
  faultsOfSteps,
  faultsOfWorkers,
  firstAfterStops,
  mostLate,
  pidsOfWorkers,
  stopsThatCost,
} from './runs.ts'
import {
  faultsOfAccount,
  faultsOfDeadlines,
  faultsOfLog,
  faultsOfStored,
  faultsOfTimes,
} from './tasks.ts'

export interface Evidence {
  readonly home: string
  readonly store: Store
  readonly accounts: readonly Account[]
  readonly outages: readonly Outage[]
  readonly lost: readonly LostLease[]
  readonly realTime: Processes['realTime']
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
  const { store, accounts, outages, lost, begunAt } = evidence
  const effects = effectsOf(evidence)
  const byTask = grouped(effects, ({ taskId }) => taskId)
  const accountOf = new Map(accounts.map((account) => [account.taskId, account]))
  const signer = createSigner(Buffer.from(RECEIPT_KEY))
  const stops = stopsThatCost(outages, lost)
  const firsts = firstAfterStops(effects, stops)
  const logs = new Map<string, readonly LogRecord[]>()
  const faults: string[] = []
  const exhibits: Exhibit[] = []
  let late = 0
  // Children are known by their effects.
  await atOnce(READERS, new Set([...accountOf.keys(), ...byTask.keys()]), async (taskId) => {
    logs.set(taskId, await store.records(...(await keyIn(store, taskId)), 0, 100_000))
  })
  const pids = pidsOfWorkers(
    [...logs].map(([taskId, log]) => ({ log, effects: byTask.get(taskId) ?? [] })),
  )
  await atOnce(READERS, logs, async ([taskId, log]) => {
    const mine = byTask.get(taskId) ?? []
    const account = accountOf.get(taskId)
    const afterLoss = new Set(beginsAfterLoss(log, mine, stops, pids))
    const inTime = mine.filter((one) => !(afterLoss.has(one) && firsts.has(one)))
    const isLate = inTime.length < mine.length
    if (isLate) late++
    const found = [
      ...faultsOfLog(log),
      ...faultsOfTimes(log, begunAt, Date.now()),
      ...faultsOfDeadlines(log),
      ...faultsOfStored(await store.load(...(await keyIn(store, taskId))), log),
      ...verifyReceipts(log, signer).map(({ seq, problem }) => `record ${seq}: ${problem}`),
      ...faultsOfSteps(log, inTime),
      ...inTime
        .filter((one) => afterLoss.has(one))
        .map(({ name, pid }) => `began ${name} in ${pid}, which had lost it while it stood still`),
      ...(account === undefined ? [] : faultsOfAccount(account, log)),
    ]
    faults.push(...found.map((fault) => `task ${taskId} ${fault}`))
    if (isLate || found.length > 0) {
      exhibits.push({ taskId, found, log, effects: mine, ...concerning(mine, evidence) })
    }
  })
  faults.push(...faultsOfWorkers(logs, lost, byTask))
  if (late > mostLate(stops.length)) {
    faults.push(`after ${late} of ${stops.length} stops a step began that others had taken over`)
  }
  return { faults, exhibits, counts: { ...countsOf(logs, accounts, effects), late } }
}

/** By the clock of the machine, in the order of the file. */
function effectsOf({ home, realTime }: Evidence): readonly Effect[] {
  const lines = readFileSync(effectsIn(home), 'utf8').split('\n').slice(0, -1)
  return lines.map(parseEffect).map((one) => ({ ...one, at: realTime(one.pid, one.at) }))
}

/** What happened to the processes in which the task had effects. */
function concerning(
  effects: readonly Effect[],
  { outages, lost }: Evidence,
): Pick<Exhibit, 'outages' | 'lost'> {
  const pids = new Set(effects.map(({ pid }) => pid))
  return {
    outages: outages.filter(({ pid }) => pids.has(pid)),
    lost: lost.filter(({ pid }) => pids.has(pid)),
  }
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
