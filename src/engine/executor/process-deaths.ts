/**
 * Whose death the death of a process is. A process that lost its lease while agent code held its event loop has left the
 * name of that task in its note. The death then counts for that task, and for no other one of the process.
 */
import type { RunToken } from '../../core/records.ts'
import type { Worker } from '../../ports/store/cluster.ts'

/** As the command `start` has it. Undefined: nothing is known, so the death counts for every task of the process. */
export type Death = 'blocked' | 'beside' | undefined

export interface ProcessDeaths {
  /** Reads what the dead processes have left. */
  refresh(): Promise<void>
  deathOf(taskId: string, run: RunToken | undefined): Death
}

/** Tasks beside a blocking one may wait for a slot for longer than the note of their process is kept. */
const REMEMBERED = 100

/** @param workers undefined for an embedded store */
export function createProcessDeaths(
  workers: (() => Promise<readonly Worker[]>) | undefined,
): ProcessDeaths {
  const blockedBy = new Map<string, string>()
  return {
    async refresh() {
      for (const worker of (await workers?.()) ?? []) {
        const taskId = worker.alive ? undefined : blockedTaskOf(worker)
        if (taskId !== undefined) blockedBy.set(worker.id, taskId)
      }
      for (const id of blockedBy.keys()) {
        if (blockedBy.size <= REMEMBERED) break
        blockedBy.delete(id)
      }
    },
    deathOf(taskId, run) {
      const blocking = run && blockedBy.get(run.worker)
      if (blocking === undefined) return undefined
      return blocking === taskId ? 'blocked' : 'beside'
    },
  }
}

/** The task whose code held the event loop of the process when it renewed its lease last. */
export function blockedTaskOf({ note }: Pick<Worker, 'note'>): string | undefined {
  const taskId =
    typeof note === 'object' && note !== null && 'blockedBy' in note ? note['blockedBy'] : undefined
  return typeof taskId === 'string' ? taskId : undefined
}
