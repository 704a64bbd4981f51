import type { Changes } from './cluster.ts'
import type { Commit, CommitResult } from './tasks.ts'

/** What a batch of commits has changed, for the other processes. Undefined when nothing was written. */
export function changesOf(
  batch: readonly Commit[],
  results: readonly CommitResult[],
): Changes | undefined {
  const written = batch.filter((_, index) => results[index]?.status === 'written')
  if (written.length === 0) return undefined
  return {
    tasks: written.map(({ taskId, expected, records }) => ({
      id: taskId,
      version: expected + records.length,
    })),
    readyAgents: written.flatMap(({ row }) => (row?.readyAt === undefined ? [] : [row.agent])),
  }
}
