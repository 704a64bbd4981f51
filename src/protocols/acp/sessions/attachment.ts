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

import { evolve } from '../../../core/evolve.ts'
import { afterChunk, afterRecord, type TextChunk } from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { type Caller, maySee } from '../../../engine/caller.ts'
import { isOwn } from '../connection/address.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Questions } from '../prompts/questions.ts'
import { chunkUpdates, recordUpdates, shownRecord } from '../render/artifact-updates.ts'
import { agentUpdates, type Shown, updatesOf, userUpdates } from '../render/updates.ts'
import type { SessionSender } from './session-sender.ts'
import type { Session } from './sessions.ts'
import {
  createIdleTasks,
  createTaskFollowers,
  type Expected,
  type Follower,
} from './task-followers.ts'

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
  const followers = createTaskFollowers({ read: sendTask, detached, log: acp.log })
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

  /** Sends the changes of one task until its last record, or until `detached` aborts. */
  async function sendTask(taskId: string, follower: Follower): Promise<void> {
    const { task, held } = follower
    if (task !== undefined) {
      questions.reconcile(task)
      await sender.taskFound(task, questions.asking(taskId))
    }
    const place = { after: task?.version ?? 0, shown: held }
    const reading = await acp.engine.follow(caller, taskId, place)
    const stop = (): void => reading.close()
    if (detached.aborted) stop()
    detached.addEventListener('abort', stop)
    try {
      for (;;) {
        const batch = await reading.next()
        if (batch === undefined || detached.aborted) return
        if ('chunks' in batch) for (const chunk of batch.chunks) await sendChunk(follower, chunk)
        else for (const record of batch.records) await sendRecord(follower, record)
      }
    } finally {
      detached.removeEventListener('abort', stop)
      reading.close()
    }
  }

  async function sendChunk(follower: Follower, chunk: TextChunk): Promise<void> {
    const { task, held } = follower
    if (task === undefined || task.parentId !== undefined) return
    for (const update of chunkUpdates(task.id, held, chunk)) await sender.show({ update }, false)
    follower.held = afterChunk(held, chunk)
  }

  async function sendRecord(follower: Follower, record: LogRecord): Promise<void> {
    const { task: before, held } = follower
    const task = evolve(before, record)
    if (record.type === 'submitted') follower.begunHere = prompted(record.message.messageId)
    const owned = follower.begunHere || follower.waiting.size > 0
    for (const update of recordUpdates(task.id, held, record)) await sender.show({ update }, false)
    const visible = shownRecord(held, record)
    for (const shown of updatesOf(before, visible, task, acp.facts)) await sender.show(shown, false)
    follower.held = afterRecord(held, record)
    questions.reconcile(task)
    const asking = questions.asking(task.id)
    await sender.taskChanged({ before, record, task, owned, asking })
    follower.advance(task, record)
    idle.update(task)
  }

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

/** The most stateless messages of a session that are replayed. */
const MOST_MESSAGES = 1_000

/**
 * Sends the past of a session again (`session/load`), oldest first, in the same form as at the time.
 * @param open the open tasks at the time of the attachment; their later records are sent live
 * @param isLive whether all records of a task are sent live
 * @returns the ended tasks whose records were all sent
 */
async function replay(
  acp: AcpContext,
  caller: Caller,
  { id }: Session,
  open: readonly Task[],
  sender: Pick<SessionSender, 'show'>,
  isLive: (taskId: string) => boolean,
): Promise<readonly string[]> {
  const { tenant, principal } = caller
  const opened = new Set(open.map((task) => task.id))
  // A task that ended after the open tasks were listed is in both lists.
  const ended = (await acp.sessions.endedTasks(caller, id)).filter(
    (task) => isOwn(task) && !opened.has(task.id) && !isLive(task.id),
  )
  const messages = await acp.store.contextMessages(tenant, principal, id, MOST_MESSAGES)
  const pieces = [
    ...[...ended, ...open.filter(isOwn)].map((task) => ({
      at: task.createdAt,
      shown: () => ofTask(acp, caller, task),
    })),
    ...messages.map(({ at, message }) => ({
      at,
      shown: () => (message.role === 'ROLE_USER' ? userUpdates(message) : agentUpdates(message)),
    })),
  ].sort((a, b) => a.at - b.at)
  for (const piece of pieces) {
    for await (const shown of piece.shown()) await sender.show(shown, true)
  }
  return ended.map((task) => task.id)
}

async function* ofTask(
  { engine, facts }: AcpContext,
  caller: Caller,
  { id, version }: Task,
): AsyncGenerator<Shown, void> {
  let before: Task | undefined
  for await (const record of await engine.subscribe(caller, id)) {
    const task = evolve(before, record)
    yield* updatesOf(before, record, task, facts)
    before = task
    if (record.seq >= version) return
  }
}
