/** Checks the logs of tasks and their rows: S1, S4, S5 and S6 of `checks.ts`. For tests only. */
import { fold } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { TaskStore } from '../../../ports/store/tasks.ts'
import { rowOf } from '../../row.ts'
import type { CheckDeps, Checks } from './checks.ts'

export interface LogChecks extends Pick<Checks, 'failedOver'> {
  /** Checks one task. */
  checkTask(taskId: string): Promise<void>
}

export function createLogChecks(
  { log, fail }: CheckDeps,
  store: Pick<TaskStore, 'row'>,
): LogChecks {
  /** The records of each task when they were read last. */
  const seen = new Map<string, readonly string[]>()

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
  }

  async function checkRow(taskId: string, records: readonly LogRecord[]): Promise<void> {
    const task = fold(records)
    const row = JSON.stringify(await store.row(taskId))
    if (task !== undefined && row !== JSON.stringify(rowOf(task))) {
      fail(`S4: the row of ${taskId} is ${row}`)
    }
  }

  return {
    failedOver: () => seen.clear(),
    async checkTask(taskId) {
      const records = await log(taskId)
      checkSequence(taskId, records)
      checkRepetition(taskId, records)
      await checkRow(taskId, records)
    },
  }
}
