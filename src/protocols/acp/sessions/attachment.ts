/**
 * One connection's view of one session: follows every task of it and sends what happens, in the order of each task's log.
 *
 *  A1  what happened before the attachment is not sent, unless it is to be replayed (`session/load`);
 *  A2  what happens from then on is sent once, whoever caused it and whether or not a prompt is open;
 *  A3  a slow reader slows only itself: nothing is buffered here, the store has it;
 *  A4  whoever waits for a rest is told after everything up to it was sent;
 *  A5  a question that stands is put to the client, at once and whenever it attaches again.
 */
import { evolve } from '../../../core/evolve.ts'
import { afterChunk, afterRecord, type TextChunk } from '../../../core/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { type Caller, maySee } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Questions } from '../prompts/questions.ts'
import { chunkUpdates, recordUpdates, shownRecord } from '../render/live-updates.ts'
import { atRest, type Shown, updatesOf } from '../render/updates.ts'
import { type Follower, follower, type Waiter } from './follower.ts'
import { replay } from './replay.ts'
import type { Session } from './sessions.ts'

/** Where an attachment sends. Each resolves when it is written. */
export interface SessionSender {
  shown(shown: Shown, replayed: boolean): Promise<void>
  /** How an open task stands when the attachment begins. */
  found(task: Task, asking: boolean): Promise<void>
  /** After the updates of a record. */
  changed(change: TaskChange): Promise<void>
}

export interface TaskChange {
  readonly before: Task | undefined
  readonly record: LogRecord
  readonly task: Task
  /** A prompt of this connection waits for the task. */
  readonly owned: boolean
  /** The client is asked what the task asks. */
  readonly asking: boolean
}

export interface Attachment {
  readonly session: Session
  /** The task when it rests, or as it rests now. Undefined: the connection was lost first. */
  settled(taskId: string): Promise<Task | undefined>
  /** The same for a rest at or after a record that fits and that is yet to come. Call it before causing that record. */
  settledAfter(taskId: string, from: (record: LogRecord) => boolean): Expected
  /** The client attaches once more: what it dismissed is asked again, and what was is replayed if it wants that. */
  again(replays: boolean): Promise<void>
  /** Everything of the task up to that record was sent, or the connection was lost. */
  seen(taskId: string, version: number): Promise<void>
  detach(): void
}

export interface Expected {
  readonly settled: Promise<Task | undefined>
  /** Nothing will come of it. */
  forget(): void
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
  const { engine, log, facts } = acp
  const leaving = new AbortController()
  const followers = new Map<string, Follower>()
  const ended = new Set<string>()
  /** Tasks that could not be followed further; whoever looks again goes on from there. */
  const lostAt = new Map<string, Task>()
  const questions = deps.questions(dismissed)
  /** Tasks written to while the list was made; those not on it are new. */
  let meanwhile: Set<string> | undefined = new Set()

  const unwatch = acp.watching.on(session.id, (task) => {
    if (!maySee(caller, task) || followers.has(task.id) || ended.has(task.id)) return
    if (meanwhile === undefined) follow(task.id, undefined)
    else meanwhile.add(task.id)
  })

  function follow(taskId: string, from: Task | undefined): Follower {
    const made = follower(from ?? lostAt.get(taskId))
    followers.set(taskId, made)
    const lost = (error: unknown): void => {
      if (leaving.signal.aborted) throw error
      log('warn', 'a session lost sight of a task', { taskId, error })
    }
    run(taskId, made)
      .catch((error: unknown) => {
        lost(error)
        // Once more, from where it was: what failed may have passed.
        return run(taskId, made)
      })
      .catch((error: unknown) => {
        if (leaving.signal.aborted) return
        lost(error)
        followers.delete(taskId)
        if (made.task !== undefined) lostAt.set(taskId, made.task)
        made.lost()
      })
    return made
  }

  async function run(taskId: string, mine: Follower): Promise<void> {
    const after = mine.task?.version ?? 0
    const { signal } = leaving
    if (mine.task !== undefined) {
      questions.reconcile(mine.task)
      await sender.found(mine.task, questions.asking(taskId))
    }
    const reading = await engine.follow(caller, taskId, { after, shown: mine.held })
    const stop = (): void => reading.close()
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    try {
      for (;;) {
        const given = await reading.next()
        if (given === undefined || signal.aborted) break
        if ('chunks' in given) for (const chunk of given.chunks) await passText(mine, chunk)
        else for (const record of given.records) await pass(mine, record)
      }
    } finally {
      signal.removeEventListener('abort', stop)
      reading.close()
    }
    if (signal.aborted) return
    followers.delete(taskId)
    ended.add(taskId)
    mine.end()
  }

  async function passText(mine: Follower, chunk: TextChunk): Promise<void> {
    const { task, held } = mine
    if (task === undefined || task.parentId !== undefined) return
    for (const update of chunkUpdates(task.id, held, chunk)) await sender.shown({ update }, false)
    mine.held = afterChunk(held, chunk)
  }

  async function pass(mine: Follower, record: LogRecord): Promise<void> {
    const before = mine.task
    const task = evolve(before, record)
    if (record.type === 'submitted') mine.begunHere = prompted(record.message.messageId)
    const owned = mine.begunHere || mine.waiting.size > 0
    const { held } = mine
    for (const update of recordUpdates(task.id, held, record)) {
      await sender.shown({ update }, false)
    }
    const visible = shownRecord(held, record)
    for (const shown of updatesOf(before, visible, task, facts)) await sender.shown(shown, false)
    mine.held = afterRecord(held, record)
    questions.reconcile(task)
    const asking = questions.asking(task.id)
    await sender.changed({ before, record, task, owned, asking })
    mine.moved(task, record)
    if (rests(task)) mine.rested()
    else if (isInterrupted(task.state) && !questions.asking(task.id)) letGo(task)
  }

  /** A question that the client is being asked is part of the turn. */
  function rests(task: Task): boolean {
    if (task.parentId !== undefined && isInterrupted(task.state)) return false
    return atRest(task) && !(isInterrupted(task.state) && questions.asking(task.id))
  }

  function dismissed(taskId: string): void {
    const mine = followers.get(taskId)
    if (mine?.task !== undefined && isInterrupted(mine.task.state)) letGo(mine.task)
  }

  /** It waits for words of the user, so the turn is theirs again: also that of the task it is a part of. */
  function letGo(task: Task): void {
    followers.get(task.id)?.rested()
    const parent = task.parentId === undefined ? undefined : followers.get(task.parentId)
    if (parent?.task !== undefined) letGo(parent.task)
  }

  function detach(): void {
    leaving.abort()
    unwatch()
    questions.close()
    for (const mine of followers.values()) mine.lost()
  }

  function expect(taskId: string, from: Waiter['from']): Expected {
    const mine = followers.get(taskId) ?? follow(taskId, undefined)
    return leaving.signal.aborted
      ? { settled: Promise.resolve(undefined), forget: () => undefined }
      : mine.expect(from)
  }

  try {
    const listed = await acp.sessions.openTasks(caller, session.id)
    if (deps.replays) {
      const shown = await replay(acp, caller, session, listed, sender, () => false)
      for (const taskId of shown) ended.add(taskId)
    }
    for (const task of listed) follow(task.id, task)
    for (const taskId of meanwhile) {
      if (!followers.has(taskId) && !ended.has(taskId)) follow(taskId, undefined)
    }
    meanwhile = undefined
  } catch (error) {
    detach()
    throw error
  }

  return {
    session,
    async settled(taskId) {
      if (ended.has(taskId)) return engine.get(caller, taskId)
      const task = followers.get(taskId)?.task
      return task !== undefined && rests(task) ? task : expect(taskId, undefined).settled
    },
    settledAfter: expect,
    async again(replays) {
      const known = new Set([...followers.keys(), ...ended])
      const isLive = (taskId: string): boolean =>
        !known.has(taskId) && (followers.has(taskId) || ended.has(taskId))
      const listed = await acp.sessions.openTasks(caller, session.id)
      if (replays) await replay(acp, caller, session, listed, sender, isLive)
      questions.forgive()
      for (const { task } of followers.values()) if (task !== undefined) questions.reconcile(task)
    },
    async seen(taskId, version) {
      if (leaving.signal.aborted || ended.has(taskId)) return
      await (followers.get(taskId) ?? follow(taskId, undefined)).reached(version)
    },
    detach,
  }
}
