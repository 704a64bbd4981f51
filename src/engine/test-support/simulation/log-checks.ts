/** Checks the logs of tasks and their rows: S1, S4, S5, S6, S11, S13 and S14 of `checks.ts`. For tests only. */
import { fold } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { TaskStore } from '../../../ports/store/tasks.ts'
import { keyIn } from '../../../testing/key-in.ts'
import { rowOf } from '../../ledger/row.ts'
import type { CheckDeps, Checks } from './checks.ts'

/** A process that measured the clock of the store once, over a long round trip, can be ahead by half of it. */
export const MOST_AHEAD_MS = 5_000

export interface LogChecks extends Pick<Checks, 'failedOver'> {
  /** Checks one task. */
  checkTask(taskId: string): Promise<void>
}

export function createLogChecks(
  { log, fail }: CheckDeps,
  store: Pick<TaskStore, 'row' | 'tenantOf'>,
  now: () => number,
): LogChecks {
  /** The records of each task when they were read last. */
  const seen = new Map<string, readonly string[]>()
  const removed = new Set<string>()

  function checkSequence(taskId: string, records: readonly LogRecord[]): void {
    const texts = records.map((record) => JSON.stringify(record))
    for (const [index, { seq }] of records.entries()) {
      if (seq !== index + 1) fail(`S1: ${taskId} has record ${seq} at place ${index + 1}`)
    }
    for (const [index, text] of (seen.get(taskId) ?? []).entries()) {
      if (texts[index] !== text) fail(`S1: record ${index + 1} of ${taskId} changed`)
    }
    seen.set(taskId, texts)
  }

  function checkRepetition(taskId: string, records: readonly LogRecord[]): void {
    const steps = records.flatMap((record) => (record.type === 'step' ? [record.key] : []))
    if (new Set(steps).size < steps.length) fail(`S5: ${taskId} recorded a step twice: ${steps}`)
    const events = records.flatMap((record) =>
      record.type === 'resumed' && record.event !== undefined && 'id' in record.event
        ? [record.event.id]
        : [],
    )
    if (new Set(events).size < events.length) fail(`S6: ${taskId} was woken twice by one event`)
    const imports = records.filter(({ type }) => type === 'imported')
    if (imports.length > 1) fail(`S14: ${taskId} was imported ${imports.length} times`)
  }

  /** The clock of the store has reached what a task was woken by, and what its records say. */
  function checkTimes(taskId: string, records: readonly LogRecord[]): void {
    let deadline = 0
    for (const record of records) {
      if (record.type === 'parked') deadline = record.suspension.deadlineAt ?? 0
      const isTimeout = record.type === 'resumed' && record.cause === 'timeout'
      if (isTimeout && deadline > now()) {
        fail(`S11: ${taskId} was woken ${deadline - now()} ms before its deadline`)
      }
      if (record.at > now() + MOST_AHEAD_MS) {
        fail(`S11: record ${record.seq} of ${taskId} is ${record.at - now()} ms ahead`)
      }
    }
  }

  function checkRemoval(taskId: string, records: readonly LogRecord[]): boolean {
    if (removed.has(taskId) && records.length > 0) fail(`S13: ${taskId} was removed and is back`)
    const isGone = records.length === 0 && seen.has(taskId)
    if (isGone) removed.add(taskId)
    return isGone
  }

  async function checkRow(taskId: string, records: readonly LogRecord[]): Promise<void> {
    const task = fold(records)
    const row = JSON.stringify(await store.row(...(await keyIn(store, taskId))))
    if (task !== undefined && row !== JSON.stringify(rowOf(task))) {
      fail(`S4: the row of ${taskId} is ${row}`)
    }
  }

  return {
    failedOver: () => seen.clear(),
    async checkTask(taskId) {
      const records = await log(taskId)
      if (checkRemoval(taskId, records)) return
      checkSequence(taskId, records)
      checkRepetition(taskId, records)
      checkTimes(taskId, records)
      await checkRow(taskId, records)
    },
  }
}
