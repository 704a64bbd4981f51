/** Computes how much a commit uses of budgets, from its records. */
import type { LogRecord } from '../records.ts'
import type { Task } from '../task.ts'
import { type Measure, toUnits } from './budget.ts'

/** Amounts in units. */
export type Amounts = Readonly<Record<Measure, number>>

/**
 * @param before the task before the records; undefined when they create it
 * @param running the token of the task's run in this process. Time in which this process runs no
 * such run is not counted
 */
export function amountsOf(
  before: Task | undefined,
  records: readonly LogRecord[],
  after: Task,
  running: string | undefined,
): Amounts {
  let [inputTokens, outputTokens, costUsd] = [0, 0, 0]
  for (const record of records) {
    if (record.type !== 'usage') continue
    inputTokens += toUnits('inputTokens', record.usage.inputTokens ?? 0)
    outputTokens += toUnits('outputTokens', record.usage.outputTokens ?? 0)
    costUsd += toUnits('costUsd', record.usage.costUsd ?? 0)
  }
  return {
    inputTokens,
    outputTokens,
    tokens: inputTokens + outputTokens,
    costUsd,
    wallMs: runningTime(before, after, running),
    turns: after.turn - (before?.turn ?? 0),
  }
}

/** The time since the previous record, if the same run had the task all that time; otherwise 0. */
function runningTime(before: Task | undefined, after: Task, running: string | undefined): number {
  if (before?.state !== 'working' || running === undefined) return 0
  return before.run?.token === running ? Math.max(0, after.updatedAt - before.updatedAt) : 0
}
