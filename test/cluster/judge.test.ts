/** The judge of the cluster finds faults: each of these was planted. */
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../src/core/records.ts'
import type { Effect } from '../crash/effects-file.ts'
import type { Account } from './customer.ts'
import {
  beginsAfterLoss,
  faultsOfSteps,
  faultsOfWorkers,
  firstAfterStops,
  pidsOfWorkers,
  stopsThatCost,
} from './runs.ts'
import { faultsOfAccount, faultsOfDeadlines, faultsOfLog, faultsOfTimes } from './tasks.ts'

const START = 1_000_000
const run = (n: number) => ({ token: `run-${n}`, worker: `worker-${n}` })

function log(...records: readonly object[]): readonly LogRecord[] {
  return records.map((one, n) => ({ seq: n + 1, at: START + n * 5_000, ...one })) as never
}

const started = (n: number, deaths = 0) => ({ type: 'started', run: run(n), deaths })
const step = (key: string) => ({ type: 'step', key: `${key}#1`, name: key })
const ended = { type: 'completed' }

function begin(name: string, pid: number, at: number): Effect {
  return { kind: 'begin', taskId: 't', name, occurrence: 1, attempt: 1, pid, at: START + at }
}

const frozen = (pid: number, from: number, to: number) => {
  return [{ pid, kind: 'frozen' as const, from: START + from, to: START + to }]
}

describe('the judge of steps', () => {
  const good = log(started(1), step('a'), started(2, 1), step('b'))

  it('finds nothing in a good log', () => {
    const effects = [begin('a', 1, 1_000), begin('b', 1, 6_000), begin('b', 2, 11_000)]
    expect(faultsOfSteps(good, effects)).toEqual([])
    const pids = pidsOfWorkers([{ log: good, effects }])
    expect(beginsAfterLoss(good, effects, frozen(2, 2_000, 4_000), pids)).toEqual([])
  })

  it('takes the begins of a step in the order of their times, not of their lines', () => {
    const effects = [begin('a', 1, 1_000), begin('b', 2, 11_000), begin('b', 1, 6_000)]
    expect(faultsOfSteps(good, effects)).toEqual([])
  })

  it.each([
    ['recorded and never begun', [begin('b', 2, 11_000)]],
    [
      'begun after its record',
      [begin('a', 1, 1_000), begin('a', 2, 12_000), begin('b', 2, 11_000)],
    ],
    ['begun twice in one run', [begin('a', 1, 1_000), begin('a', 2, 1_500), begin('b', 2, 11_000)]],
  ])('finds a step that was %s', (_, effects) => {
    expect(faultsOfSteps(good, effects)).not.toEqual([])
  })

  it('finds a step in a process that had lost it, and knows the one it was about to begin', () => {
    const stops = frozen(1, 2_000, 13_000)
    const [atOnce, next] = [begin('b', 1, 13_010), begin('b', 1, 13_020)]
    const effects = [begin('a', 1, 1_000), begin('b', 2, 11_000), atOnce, next]
    const pids = pidsOfWorkers([{ log: good, effects }])
    expect(beginsAfterLoss(good, effects, stops, pids)).toEqual([atOnce, next])
    expect(firstAfterStops(effects, stops)).toEqual(new Set([atOnce]))
    expect(firstAfterStops([begin('b', 1, 14_000), ...effects], stops)).toEqual(new Set())
    expect(firstAfterStops(effects, frozen(2, 2_000, 13_000))).toEqual(new Set())
  })

  it('takes no run of another process for a reason why a step began', () => {
    const stops = frozen(1, 2_000, 13_000)
    const late = begin('b', 1, 13_010)
    const taken = { ...started(2), at: START + 13_100 }
    const runs = log(started(1), step('a'), started(2, 1), step('b'), taken)
    const effects = [begin('a', 1, 1_000), begin('b', 2, 11_000), late]
    const pids = pidsOfWorkers([{ log: runs, effects }])
    expect(pids).toEqual(
      new Map([
        ['worker-1', 1],
        ['worker-2', 2],
      ]),
    )
    expect(beginsAfterLoss(runs, effects, stops, pids)).toEqual([late])
    // It may be a run of a process that began nothing else.
    expect(beginsAfterLoss(runs, effects, stops, new Map([['worker-1', 1]]))).toEqual([])
  })

  it('knows which stops cost the lease: the process says so soon after it goes on', () => {
    const stop = frozen(1, 2_000, 13_000)
    const lost = (pid: number, at: number) => [{ pid, worker: 'worker-1', at: START + at }]
    expect(stopsThatCost(stop, lost(1, 13_500))).toEqual(stop)
    expect(stopsThatCost(stop, [])).toEqual([])
    expect(stopsThatCost(stop, lost(2, 13_500))).toEqual([])
    expect(stopsThatCost(stop, lost(1, 90_000))).toEqual([])
  })
})

describe('the judge of workers', () => {
  const lost = [{ pid: 1, worker: 'worker-1', at: START + 13_000 }]
  const logs = (...records: readonly object[]) => new Map([['t', log(...records)]])

  it('finds nothing when a task stays with the process that took it', () => {
    expect(faultsOfWorkers(logs(started(1), started(2, 1), ended), lost)).toEqual([])
  })

  it('finds a task that went back to a worker from which it had been taken', () => {
    expect(faultsOfWorkers(logs(started(1), started(2, 1), started(1, 1)), lost)).toHaveLength(1)
  })

  it('finds a task that a worker took after it had lost its lease, if it began a step of it', () => {
    const all = logs(started(1), ended, ended, ended, started(1), started(2, 1))
    const begun = (pid: number, at: number) => new Map([['t', [begin('a', pid, at)]]])
    expect(faultsOfWorkers(all, lost, begun(1, 21_000))).toHaveLength(1)
    expect(faultsOfWorkers(all, lost, begun(1, 26_000))).toEqual([])
    expect(faultsOfWorkers(all, lost, begun(2, 21_000))).toEqual([])
    expect(faultsOfWorkers(all, lost)).toEqual([])
  })
})

describe('the judge of logs', () => {
  const created = { type: 'submitted' }
  it.each([
    [
      'a gap',
      [
        { type: 'said', key: 'a' },
        { type: 'said', key: 'b', seq: 9 },
      ],
    ],
    ['a key twice', [step('a'), step('a')]],
    [
      'a stop resumed twice',
      [
        { type: 'resumed', handle: 'h' },
        { type: 'resumed', handle: 'h' },
      ],
    ],
    [
      'an event twice',
      [
        { type: 'resumed', handle: 'h', eventPos: 3 },
        { type: 'resumed', handle: 'i', eventPos: 3 },
      ],
    ],
  ])('finds %s', (_, records) => {
    const faults = faultsOfLog(log(...records), 'completed')
    expect(faults).toHaveLength(1)
  })

  it('finds a task that did not end, and a time of another clock', () => {
    expect(faultsOfLog(log(step('a')), 'working')[0]).toMatch(/^is working after /)
    const late = log(created, { ...ended, at: START + 60_000 })
    expect(faultsOfTimes(late, START, START + 10_000)).toHaveLength(1)
    expect(faultsOfTimes(late, START, START + 60_000)).toEqual([])
  })
})

describe('the judge of deadlines', () => {
  const parked = { type: 'parked', suspension: { deadlineAt: START + 5_000 } }
  const woken = { type: 'resumed', handle: 'h', cause: 'timeout' }

  it('finds a task that was woken before its deadline', () => {
    expect(faultsOfDeadlines(log(parked, woken))).toEqual([])
    const early = { ...woken, at: START + 4_999 }
    expect(faultsOfDeadlines(log(parked, early))).toEqual(['was woken 1 ms before its deadline'])
    expect(faultsOfDeadlines(log(parked, { ...early, cause: 'explicit_resume' }))).toEqual([])
  })
})

describe('the judge of accounts', () => {
  const done = { kind: 'done', result: {} } as const
  const account = (some: Partial<Account>): Account => ({
    taskId: 't',
    taskIds: new Set(['t']),
    state: 'completed',
    resumes: [],
    messages: new Map(),
    reminders: new Map(),
    events: new Set(),
    frames: [],
    ...some,
  })
  const resumed = log({ type: 'resumed', handle: 'h', idempotencyKey: 'k1' })
  const race = (key: string) => ({ handle: 'h', key, outcome: done })

  it('finds nothing when what was told is in the log', () => {
    expect(faultsOfAccount(account({ resumes: [race('k1')] }), resumed)).toEqual([])
  })

  it.each([
    ['two tasks of one key', account({ taskIds: new Set(['t', 'u']) })],
    ['two winners', account({ resumes: [race('k1'), race('k2')] })],
    ['a winner that the log does not know', account({ resumes: [race('k3')] })],
    ['a message that was lost', account({ messages: new Map([['m', done]]) })],
    ['a reminder that was lost', account({ reminders: new Map([['r', done]]) })],
  ])('finds %s', (_, some) => {
    expect(faultsOfAccount(some, resumed)).not.toEqual([])
  })
})
