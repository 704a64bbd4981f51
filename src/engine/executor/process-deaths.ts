/**
 * Decides for which tasks the death of a process counts. If a process lost its lease while agent
 * code blocked its event loop, its note names that task. The death then counts for this task and
 * for no other one of the process.
 */
import type { RunToken } from '../../core/records.ts'
import type { Worker } from '../../ports/store/cluster.ts'

/**
 * The values of `death` in the command `start`. Undefined: the death counts for every task of the
 * process.
 */
export type Death = 'blocked' | 'beside' | undefined

export interface ProcessDeaths {
  /** Reads the notes of dead processes. */
  refresh(): Promise<void>
  deathOf(taskId: string, run: RunToken | undefined): Death
}

/**
 * The most processes remembered. Other tasks of such a process may wait for a slot longer than its
 * row exists.
 */
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

/** The task whose code blocked the event loop of the process when its lease was last renewed. */
export function blockedTaskOf({ note }: Pick<Worker, 'note'>): string | undefined {
  const taskId =
    typeof note === 'object' && note !== null && 'blockedBy' in note ? note['blockedBy'] : undefined
  return typeof taskId === 'string' ? taskId : undefined
}
