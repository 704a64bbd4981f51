/** Begins the run of a task whose command took a slot, or gives up a run that began before its task was written. */
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Builder } from './building.ts'
import type { Presences } from './presence.ts'
import type { Slots } from './slots.ts'

export interface TaskLauncher {
  /** Continues from the warm frame of the task if there is one. Otherwise builds a frame. */
  launch(task: Task): void
  /** Starts the code of a task that is decided and not durable yet. */
  launchAhead(task: Task): void
  /** The command of `run` was not written: its slot is freed, and a run that began ahead is discarded. */
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
    // A run that began ahead has this token already.
    if (token === undefined || presences.get(task.id)?.token === token) return
    // The lease was lost while the command was written: the task is an orphan, and is taken over.
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
    // A process that began to stop after the command was asked for builds nothing: `drain` releases the task.
    if (!draining()) builder.build(presence, task)
  }

  /** Continues from the warm frame. Returns false if there is none. */
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
