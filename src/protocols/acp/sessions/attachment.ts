/**
 * The attachment of one connection to one session: it follows every task of the session and sends
 * its changes, in the order of each task's log.
 *
 *  A1  What happened before the attachment is sent only when the client asks for a replay (`session/load`).
 *  A2  Every later record is sent once, whatever caused it, and whether or not a prompt is open.
 *  A3  A slow client delays only itself. Nothing is buffered here: records are read from the store when they are sent.
 *  A4  A caller that waits for a task to become idle continues after every record up to that point
 *      was sent.
 *  A5  The client is asked an open question at once, and again whenever it attaches again.
 */
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { type Caller, maySee } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Questions } from '../prompts/questions.ts'
import { followTask } from './follow-task.ts'
import type { Expected } from './follower.ts'
import { createIdleTasks } from './idle-tasks.ts'
import { replay } from './replay.ts'
import type { SessionSender } from './session-sender.ts'
import type { Session } from './sessions.ts'
import { createTaskFollowers } from './task-followers.ts'

export interface Attachment {
  readonly session: Session
  /**
   * Resolves with the task when it is next idle, or at once if it is. Undefined: the connection was
   * lost first.
   */
  settled(taskId: string): Promise<Task | undefined>
  /**
   * Like `settled`, for the first idle state at or after a future record for which `from` returns
   * true. Must be called before that record is caused.
   */
  settledAfter(taskId: string, from: (record: LogRecord) => boolean): Expected
  /**
   * Called when the client attaches again: dismissed questions are asked again, and with `replays`
   * the past is sent again.
   */
  again(replays: boolean): Promise<void>
  /** Resolves when every record up to this version was sent, or the connection was lost. */
  seen(taskId: string, version: number): Promise<void>
  detach(): void
}

export interface AttachDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly session: Session
  readonly sender: SessionSender
  /** Whether the message is a prompt of this connection. */
  readonly prompted: (messageId: string) => boolean
  readonly questions: (dismissed: (taskId: string) => void) => Questions
  readonly replays: boolean
}

export async function attach(deps: AttachDeps): Promise<Attachment> {
  const { acp, caller, session, sender, prompted } = deps
  const leaving = new AbortController()
  const detached = leaving.signal
  const questions = deps.questions((taskId) => idle.dismissed(taskId))
  const followers = createTaskFollowers({
    read: (taskId, follower) =>
      followTask({ acp, caller, sender, prompted, questions, idle, detached }, taskId, follower),
    detached,
    log: acp.log,
  })
  const idle = createIdleTasks(followers, questions)
  /**
   * Tasks that changed while the open tasks were listed. Those that are not in the list are new.
   */
  let writtenMeanwhile: Set<string> | undefined = new Set()

  const unwatch = acp.watching.on(session.id, (task) => {
    if (!maySee(caller, task) || followers.isSeen(task.id)) return
    if (writtenMeanwhile === undefined) followers.follow(task.id)
    else writtenMeanwhile.add(task.id)
  })

  function detach(): void {
    leaving.abort()
    unwatch()
    questions.close()
    for (const follower of followers.all()) follower.lost()
  }

  function expectIdle(taskId: string, from?: (record: LogRecord) => boolean): Expected {
    const follower = followers.follow(taskId)
    return detached.aborted
      ? { settled: Promise.resolve(undefined), forget: () => undefined }
      : follower.expect(from)
  }

  try {
    const open = await acp.sessions.openTasks(caller, session.id)
    if (deps.replays) {
      const ended = await replay(acp, caller, session, open, sender, () => false)
      for (const taskId of ended) followers.markEnded(taskId)
    }
    for (const task of open) followers.follow(task.id, task)
    for (const taskId of writtenMeanwhile) if (!followers.isSeen(taskId)) followers.follow(taskId)
    writtenMeanwhile = undefined
  } catch (error) {
    detach()
    throw error
  }

  return {
    session,
    async settled(taskId) {
      if (followers.isEnded(taskId)) return acp.engine.get(caller, taskId)
      const task = followers.get(taskId)?.task
      return task !== undefined && idle.has(task) ? task : expectIdle(taskId).settled
    },
    settledAfter: expectIdle,
    async again(replays) {
      const before = new Set(followers.seenIds())
      const isLive = (taskId: string): boolean => !before.has(taskId) && followers.isSeen(taskId)
      const open = await acp.sessions.openTasks(caller, session.id)
      if (replays) await replay(acp, caller, session, open, sender, isLive)
      questions.forgetDismissed()
      for (const { task } of followers.all()) if (task !== undefined) questions.reconcile(task)
    },
    async seen(taskId, version) {
      if (detached.aborted || followers.isEnded(taskId)) return
      await followers.follow(taskId).reached(version)
    },
    detach,
  }
}
