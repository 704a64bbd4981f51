/**
 * Commands that may stop a task: pause, park from outside, hold. Whether the task stands still is asked when the command
 * is decided, and nothing of the task starts until the command is written or refused.
 */
import type { Command } from '../../core/commands.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Committed, Ledger } from '../ledger.ts'
import type { Presence, Presences } from './presence.ts'

export type CommitStop = (
  taskId: string,
  mode: PauseMode,
  command: (task: Task | undefined, atBoundary: boolean) => Command,
) => Promise<Committed>

export function createCommitStop(
  ledger: Pick<Ledger, 'commit'>,
  presences: Pick<Presences, 'get'>,
): CommitStop {
  return async (taskId, mode, command) => {
    /** One for each time the command was decided: a lost compare-and-set is decided again. */
    const frozen: Presence[] = []
    try {
      return await ledger.commit(taskId, (task) => {
        const presence = presences.get(taskId)
        const atBoundary = task?.state === 'working' && standsStill(presence, mode)
        if (atBoundary && presence !== undefined) frozen.push(freeze(presence))
        return command(task, atBoundary)
      })
    } finally {
      frozen.forEach(thaw)
    }
  }
}

/** Without a frame nothing moves. With one, the run closes its gate where it can. */
function standsStill(presence: Presence | undefined, mode: PauseMode): boolean {
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

/** Resolves when no command that may stop the task is under way: a frame may start then. */
export async function whenThawed(presence: Presence): Promise<void> {
  while (presence.freezes > 0) {
    await new Promise<void>((resolve) => {
      presence.thawed = resolve
    })
  }
}
