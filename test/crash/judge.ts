/** Afterwards: what the log, the effects file and the client's memory have to say about each other. */
import { expect } from 'vitest'
import { fold } from '../../src/core/evolve.ts'
import { canonical } from '../../src/core/receipts/canonical-json.ts'
import { verifyReceipts } from '../../src/core/receipts/check-receipts.ts'
import type { LogRecord } from '../../src/core/records.ts'
import { createSigner, receiptKey } from '../../src/server/system/signer.ts'
import { keyIn } from '../../src/testing/key-in.ts'
import { openTestStore, SKEW_MS } from '../support/test-store.ts'
import type { Client } from './client.ts'
import { type Effect, readEffects } from './effects-file.ts'

export interface Evidence {
  readonly data: string
  readonly client: Client
  /** The processes that were killed. */
  readonly killed: ReadonlySet<number>
}

/** Reads the logs in this process: no worker is left to ask. */
export async function readLogs(
  data: string,
  taskIds: Iterable<string>,
): Promise<ReadonlyMap<string, readonly LogRecord[]>> {
  const store = await openTestStore(data)
  try {
    const logs = new Map<string, readonly LogRecord[]>()
    for (const taskId of taskIds) {
      const log = await store.records(...(await keyIn(store, taskId)), 0, 100_000)
      const stored = await store.load(...(await keyIn(store, taskId)))
      expect(stored && same(fold(stored.records, stored.snapshot))).toEqual(same(fold(log)))
      logs.set(taskId, log)
    }
    return logs
  } finally {
    await store.close()
  }
}

const same = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

export async function judge({ data, client, killed }: Evidence): Promise<void> {
  const logs = await readLogs(data, client.taskIds.values())
  const effects = readEffects(data)
  const signer = createSigner(await receiptKey({ data }, undefined))
  for (const [taskId, log] of logs) {
    expect(fold(log)?.state).toBe('completed')
    expect(verifyReceipts(log, signer)).toEqual([])
    nothingLostOrDoubled(log, client.seen.get(taskId) ?? [])
    acknowledgedOnce(log, taskId, client)
    const mine = effects.filter((effect) => effect.taskId === taskId)
    stepsRanAsOftenAsTheyMay(log, mine, killed)
  }
}

function nothingLostOrDoubled(log: readonly LogRecord[], seen: readonly LogRecord[]): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  // What the client saw was durable when it saw it, so it is still there, in its place.
  expect(seen.map(canonicalRecord)).toEqual(log.slice(0, seen.length).map(canonicalRecord))
  expect(seen).toHaveLength(log.length)
  const keys = log.flatMap((record) =>
    'key' in record && record.type !== 'attempt' ? `${record.key}` : [],
  )
  expect(keys).toEqual([...new Set(keys)])
}

const canonicalRecord = (record: LogRecord): string => canonical(JSON.parse(JSON.stringify(record)))

function acknowledgedOnce(log: readonly LogRecord[], taskId: string, { actions }: Client): void {
  for (const { what, isDone, acknowledged } of actions.filter((one) => one.taskId === taskId)) {
    const times = log.filter(isDone).length
    expect(times, `${what}, acknowledged: ${acknowledged}`).toBeLessThanOrEqual(1)
    if (acknowledged) expect(times, what).toBe(1)
  }
}

/**
 * A step begins once per recorded attempt, and once more for each death that fell between its beginning and its record:
 * never after that record, never twice in one process, and always under the same key.
 */
export function stepsRanAsOftenAsTheyMay(
  log: readonly LogRecord[],
  effects: readonly Effect[],
  killed: ReadonlySet<number>,
): void {
  const steps = log.filter((record) => record.type === 'step')
  for (const { key, name, attempt: last, at } of steps) {
    const occurrence = Number(key.slice(key.lastIndexOf('#') + 1))
    const mine = effects.filter((one) => one.name === name && one.occurrence === occurrence)
    const begins = mine.filter(({ kind }) => kind === 'begin')
    const late = begins.filter((begin) => begin.at > at + SKEW_MS)
    expect(late, `${key} ran again after it was recorded`).toEqual([])
    const interruptions = log.filter((one) => one.type === 'attempt' && one.key === key)
    expect(interruptions.map((one) => 'attempt' in one && one.attempt)).toEqual(upTo(last - 1))
    for (const attempt of upTo(last)) {
      const pids = begins.filter((begin) => begin.attempt === attempt).map(({ pid }) => pid)
      expect(pids, `${key} began twice in one process`).toEqual([...new Set(pids)])
      const unexplained = pids.slice(0, -1).filter((pid) => !killed.has(pid))
      expect(unexplained, `${key} began again though nobody had died`).toEqual([])
      const settled = mine.filter(
        (one) => one.kind !== 'begin' && one.attempt === attempt && one.pid === pids.at(-1),
      )
      expect(settled).toHaveLength(1)
    }
    expect(begins.filter((begin) => begin.attempt > last)).toEqual([])
  }
  // And nothing ran that is not in the log.
  const recorded = new Set(steps.map(({ name }) => name))
  expect(effects.filter(({ name }) => !recorded.has(name))).toEqual([])
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, n) => n + 1)
