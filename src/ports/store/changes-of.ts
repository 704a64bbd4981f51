import type { Changes } from './cluster.ts'
import type { Commit, CommitResult } from './tasks.ts'

/**
 * What other processes need to know about a batch of commits. Undefined when nothing was written.
 */
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
