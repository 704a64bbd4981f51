/**
 * Begins the run of a task whose command took a slot, or discards a run that began before its task
 * was written.
 */
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Builder } from './building.ts'
import type { Presences } from './presence.ts'
import type { Slots } from './slots.ts'

export interface TaskLauncher {
  /** Continues the run of the task if one is in memory. Otherwise builds a run. */
  launch(task: Task): void
  /** Starts the code of a task whose create is decided and not durable yet. */
  launchAhead(task: Task): void
  /**
   * The command of `run` was not written: frees its slot, and discards a run that began before the
   * write.
   */
  abandon(taskId: string, run: RunToken): void
}

export function createTaskLauncher(deps: {
  readonly slots: Slots
  readonly presences: Presences
  readonly builder: Builder
  readonly draining: () => boolean
  readonly worker: () => string
}): TaskLauncher {
  const { slots, presences, builder, draining, worker } = deps

  function launch(task: Task): void {
    const token = task.run?.token
    // A run that began before the write already has this token.
    if (token === undefined || presences.get(task.id)?.token === token) return
    // The lease was lost while the command was written. The task is an orphan and will be taken
    // over.
    if (task.run?.worker !== worker()) {
      slots.free(token)
      return
    }
    if (!draining() && isContinued(task.id, token)) return
    const former = presences.get(task.id)
    if (former !== undefined) {
      former.run?.discard('given-up')
      presences.move(former, 'leave')
    }
    const presence = presences.create(task, token)
    presences.move(presence, 'launch')
    // A process that began to shut down meanwhile builds no run: `drain` releases the task.
    if (!draining()) builder.build(presence, task)
  }

  /** Continues the run in memory. Returns false if there is none. */
  function isContinued(taskId: string, token: string): boolean {
    const presence = presences.get(taskId)
    if (presence?.phase !== 'warm' || presence.run?.dead !== false) return false
    const { run } = presence
    presence.token = token
    presences.move(presence, 'launch')
    run.adopt(token)
    run.giveBackSlot()
    return true
  }

  return {
    launch,
    launchAhead(task) {
      const token = task.run?.token
      if (token === undefined) return
      builder.beginAhead(presences.create(task, token), task)
    },
    abandon(taskId, { token }) {
      const presence = presences.get(taskId)
      if (presence?.token === token) {
        presence.run?.discard('ended')
        presences.move(presence, 'leave')
      }
      slots.free(token)
    },
  }
}
