/**
 * Commands that may stop a task: pause, park from outside, hold. If the task is at a boundary when
 * the command is decided, its run is frozen: it starts no operation until the command is written or
 * refused.
 */
import type { Command } from '../../core/commands.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Committed, Ledger } from '../ledger/ledger.ts'
import type { Presence, Presences } from './presence.ts'

export type CommitStop = (
  taskId: string,
  mode: PauseMode,
  command: (task: Task | undefined, atBoundary: boolean) => Command,
) => Promise<Committed>

export function createCommitStop(
  ledger: Pick<Ledger, 'commit'>,
  presences: Pick<Presences, 'get'>,
  worker: () => string,
): CommitStop {
  /**
   * This process does not know whether a run in another process is at a boundary, so that process
   * commits the stop.
   */
  const runsElsewhere = ({ run }: Task): boolean => run !== undefined && run.worker !== worker()

  return async (taskId, mode, command) => {
    /** One entry per decision, because a command whose compare-and-set failed is decided again. */
    const frozen: Presence[] = []
    try {
      return await ledger.commit(taskId, (task) => {
        const presence = presences.get(taskId)
        const atBoundary =
          task?.state === 'working' && !runsElsewhere(task) && isAtBoundary(presence, mode)
        if (atBoundary && presence !== undefined) frozen.push(freeze(presence))
        return command(task, atBoundary)
      })
    } finally {
      frozen.forEach(thaw)
    }
  }
}

/**
 * Whether the task is at a boundary. A task that is not run in another process and has no run in
 * memory here always is. A run that is at a boundary is frozen by this call.
 */
function isAtBoundary(presence: Presence | undefined, mode: PauseMode): boolean {
  return presence?.run === undefined || presence.run.freeze(mode)
}

function freeze(presence: Presence): Presence {
  presence.freezes++
  return presence
}

function thaw(presence: Presence): void {
  presence.freezes--
  if (presence.freezes > 0) return
  presence.run?.thaw()
  presence.thawed?.()
  presence.thawed = undefined
}

/** Resolves when no command that may stop the task is in flight. Its run may start then. */
export async function whenThawed(presence: Presence): Promise<void> {
  while (presence.freezes > 0) {
    await new Promise<void>((resolve) => {
      presence.thawed = resolve
    })
  }
}
