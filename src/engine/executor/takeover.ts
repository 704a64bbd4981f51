/**
 * Starts tasks that have no run: queued tasks, and at the start of a process the orphans of dead processes. Also decides
 * for which of its tasks the death of a process counts.
 */

import { isLullError } from '../../core/errors.ts'
import type { RunToken } from '../../core/records.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { Worker } from '../../ports/store/cluster.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import type { Backlog } from './backlog.ts'
import type { Launching, SlotOwner } from './launching.ts'
import type { Suspects } from './suspects.ts'

export interface TakeoverDeps {
  readonly store: Pick<WorkStore, 'orphans' | 'readyAgents'>
  readonly ledger: Pick<Ledger, 'commit' | 'read'>
  readonly ids: IdSource
  readonly log: Log
  readonly worker: () => string
  /**
   * Only tasks of these agents are taken. Undefined: tasks of all agents, and those of unknown
   * agents are stopped.
   */
  readonly only: () => readonly string[] | undefined
  readonly maxDeaths: number
  readonly deaths: ProcessDeaths
  readonly suspects: Suspects
  readonly knows: (agent: string) => boolean
  /** False when the agent is not here, but another process may have it. */
  readonly takes: (agent: string) => boolean
  readonly launching: () => Pick<Launching, 'start'>
}

/**
 * Starts a task without a run, or takes it over from the run `from`. Does nothing if the task has
 * another run. Resolves with false if no slot was free.
 */
export type StartTask = (
  taskId: string,
  of: SlotOwner,
  from: RunToken | undefined,
) => Promise<boolean>

export function createStartTask(deps: TakeoverDeps): StartTask {
  const { ledger, ids, maxDeaths, knows, takes } = deps
  return async (taskId, of, from) => {
    const { agent } = of
    if (!takes(agent)) return true
    const handle = `suspend-${ids.uuid()}`
    try {
      if (knows(agent)) {
        const death = deps.deaths.deathOf(taskId, from)
        const facts = { type: 'start', from, maxDeaths, death, handle } as const
        const started = await deps.launching().start(taskId, of, (run) => ({ ...facts, run }))
        return started !== undefined
      }
      const summary = `No agent named "${agent}" is registered any more. Register it and resume, or cancel.`
      const policy = { handle, reason: 'agent-unknown', summary, atBoundary: true, from } as const
      await ledger.commit(taskId, { type: 'policy-pause', ...policy })
    } catch (error) {
      // A removed task cannot start. An unreadable task is shown as stopped and is not tried again.
      if (!isLullError(error, 'TASK_NOT_FOUND') && !isLullError(error, 'TASK_UNREADABLE'))
        throw error
    }
    return true
  }
}

const PAGE = 256

/** Finds orphans and tasks that wait for a slot, and starts as many as there are free slots. */
export async function recover(
  deps: TakeoverDeps,
  backlog: Backlog,
  start: StartTask,
): Promise<void> {
  const { store, ledger, log, worker } = deps
  const only = deps.only()
  const seen = new Set<string>()
  for (;;) {
    const listed = await store.orphans(worker(), PAGE + seen.size, only)
    const page = listed.filter(({ taskId }) => !seen.has(taskId))
    if (page.length === 0) break
    await deps.deaths.refresh()
    for (const { taskId, owner } of page) {
      seen.add(taskId)
      const task = await ledger.read(taskId)
      // Another process may have taken the task over since it was listed.
      if (task === undefined || isUnreadable(task)) continue
      if (task.run !== undefined && task.run.worker !== owner) continue
      // A pause that was accepted takes effect before the engine answers its first call.
      if (task.pausing !== undefined && (await start(taskId, task, task.run))) continue
      const isKnownDeath = deps.deaths.deathOf(taskId, task.run) !== undefined
      if (!isKnownDeath && deps.suspects.take(task, task.run)) continue
      backlog.addOrphan(task, task.run)
    }
  }
  for (const agent of await store.readyAgents()) {
    if (only?.includes(agent) ?? true) backlog.addReady(agent)
  }
  if (seen.size > 0)
    log('info', 'taking over tasks of a process that is gone', { tasks: seen.size })
  backlog.pullAll()
  deps.suspects.begin()
}

/**
 * Decides for which tasks the death of a process counts. If a process lost its lease while agent
 * code blocked its event loop, its note names that task. The death then counts for this task and
 * for no other one of the process.
 */
/**
 * The values of `death` in the command `start`. Undefined: the death counts for every task of the
 * process.
 */
type Death = 'blocked' | 'beside' | undefined

interface ProcessDeaths {
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
