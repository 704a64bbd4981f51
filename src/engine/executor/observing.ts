/**
 * Passes every write to a task to its run, and moves the task to its next phase when it stopped.
 */
import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Run } from '../run/run.ts'
import type { Backlog } from './backlog.ts'
import type { Move, Presence, Presences } from './presence.ts'

/** Called for every published write, in log order per task. */
export type Observe = (task: Task, records: readonly LogRecord[]) => void

export function createObserve(deps: {
  readonly presences: Presences
  readonly backlog: Pick<Backlog, 'addReady'>
  readonly worker: () => string
  readonly draining: () => boolean
  /** Whether this process starts tasks of that agent. */
  readonly takes: (agent: string) => boolean
}): Observe {
  const { presences, backlog, worker, draining, takes } = deps

  function observeHere(presence: Presence, task: Task, records: readonly LogRecord[]): void {
    const { run, building } = presence
    if (run !== undefined && ranElsewhere(run, task, records)) {
      run.discard('taken-over')
      presences.move(presence, 'leave')
      return
    }
    run?.observe(records, task)
    if (building !== undefined) {
      building.task = task
      building.records.push(...records)
    }
    if (presence.phase === 'warm' || task.run?.token !== presence.token) {
      presences.move(presence, moveAfterStop(presence, task))
    }
  }

  /**
   * Whether another process has run the task, or the store has lost what the run wrote. The run in
   * memory is then out of date.
   */
  function ranElsewhere({ task: seen }: Run, task: Task, records: readonly LogRecord[]): boolean {
    if (seen.version > task.version) return true
    return records.some((record) => {
      const run = 'run' in record ? record.run : undefined
      return run !== undefined && run.worker !== worker()
    })
  }

  /** The next move of a task whose log names another run than the one in memory, or none. */
  function moveAfterStop({ run }: Presence, task: Task): Move {
    if (isTerminal(task.state) || run === undefined || run.dead) return 'leave'
    if (task.run !== undefined && task.run.worker !== worker()) {
      run.discard('taken-over')
      return 'leave'
    }
    // This process is shutting down and released the task. `drain` discards the run.
    return task.state === 'working' && task.run === undefined && draining() ? 'leave' : 'stop'
  }

  return (task, records) => {
    const presence = presences.get(task.id)
    if (presence !== undefined) observeHere(presence, task, records)
    if (waitsForSlot(task) && takes(task.agent)) backlog.addReady(task.agent)
  }
}

function waitsForSlot({ state, run, holds }: Task): boolean {
  return (state === 'submitted' || state === 'working') && run === undefined && holds.length === 0
}
