import type { Commit } from './tasks.ts'

/** Returns which rule of `commit` the caller broke, or undefined. */
export function malformation({ taskId, expected, records, row }: Commit): string | undefined {
  if (records.length === 0) return `A commit to task ${taskId} has no records`
  if (records.some((record, index) => record.seq !== expected + 1 + index)) {
    return `Records for task ${taskId} do not follow version ${expected}`
  }
  if (expected === 0 && row === undefined) return `Task ${taskId} is created without a row`
  return undefined
}
