/**
 * Tracks the tasks of a session that one attachment follows. A task without an entry has not been
 * seen.
 *
 *   follow ──▶ followed ──every record sent──▶ ended
 *     ▲            │
 *     └── lost ◀───┘ reading failed twice
 */
import type { Task } from '../../../core/task.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { createFollower, type Follower } from './follower.ts'

type Entry =
  | { readonly phase: 'followed'; readonly follower: Follower }
  | { readonly phase: 'ended' }
  /** The next `follow` continues after this version of the task. */
  | { readonly phase: 'lost'; readonly task: Task | undefined }

export interface TaskFollowers {
  get(taskId: string): Follower | undefined
  /**
   * Returns the follower of the task. If there is none, starts to follow it: after `from`, or from
   * the first record.
   */
  follow(taskId: string, from?: Task): Follower
  isEnded(taskId: string): boolean
  /** Whether the task is followed, or was followed to its end. */
  isSeen(taskId: string): boolean
  /** Called when every record of the task was already sent by a replay. */
  markEnded(taskId: string): void
  seenIds(): readonly string[]
  all(): readonly Follower[]
}

export interface TaskFollowerDeps extends Pick<EngineDeps, 'log'> {
  /** Sends the records of the task until its end or until `detached` aborts. */
  readonly read: (taskId: string, follower: Follower) => Promise<void>
  readonly detached: AbortSignal
}

export function createTaskFollowers({ read, detached, log }: TaskFollowerDeps): TaskFollowers {
  const entries = new Map<string, Entry>()

  function get(taskId: string): Follower | undefined {
    const entry = entries.get(taskId)
    return entry?.phase === 'followed' ? entry.follower : undefined
  }

  async function readToEnd(taskId: string, follower: Follower): Promise<void> {
    try {
      await read(taskId, follower).catch((error: unknown) => {
        if (detached.aborted) throw error
        log('warn', 'a task of a session could not be read and is read again', { taskId, error })
        return read(taskId, follower)
      })
    } catch (error) {
      if (detached.aborted) return
      log('warn', 'a task of a session is not followed further', { taskId, error })
      entries.set(taskId, { phase: 'lost', task: follower.task })
      follower.lost()
      return
    }
    if (detached.aborted) return
    entries.set(taskId, { phase: 'ended' })
    follower.end()
  }

  function isSeen(taskId: string): boolean {
    const phase = entries.get(taskId)?.phase
    return phase === 'followed' || phase === 'ended'
  }

  return {
    get,
    follow(taskId, from) {
      const entry = entries.get(taskId)
      if (entry?.phase === 'followed') return entry.follower
      const follower = createFollower(from ?? (entry?.phase === 'lost' ? entry.task : undefined))
      entries.set(taskId, { phase: 'followed', follower })
      void readToEnd(taskId, follower)
      return follower
    },
    isEnded: (taskId) => entries.get(taskId)?.phase === 'ended',
    isSeen,
    markEnded: (taskId) => entries.set(taskId, { phase: 'ended' }),
    seenIds: () => [...entries.keys()].filter(isSeen),
    all: () =>
      [...entries.values()].flatMap((entry) => (entry.phase === 'followed' ? entry.follower : [])),
  }
}
