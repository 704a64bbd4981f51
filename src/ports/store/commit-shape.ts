import type { Commit } from './tasks.ts'

/** The error of a commit to an id that a task of another tenant has. */
export const FOREIGN_ID = 'A task of another tenant has this id'

/** Returns which rule of `commit` the caller broke, or undefined. */
export function malformation(commit: Commit): string | undefined {
  const { tenant, taskId, expected, records, row, claim } = commit
  if (records.length === 0) return `A commit to task ${taskId} has no records`
  if (records.some((record, index) => record.seq !== expected + 1 + index)) {
    return `Records for task ${taskId} do not follow version ${expected}`
  }
  if (expected === 0 && row === undefined) return `Task ${taskId} is created without a row`
  if ((row?.tenant ?? tenant) !== tenant || (claim?.tenant ?? tenant) !== tenant) {
    return `A commit to task ${taskId} names two tenants`
  }
  return undefined
}
