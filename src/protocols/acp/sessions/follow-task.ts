/**
 * Sends a client the changes of one task: its records and its live text, in the order of the log.
 */
import { evolve } from '../../../core/evolve.ts'
import { afterChunk, afterRecord, type TextChunk } from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Questions } from '../prompts/questions.ts'
import { chunkUpdates, recordUpdates, shownRecord } from '../render/live-updates.ts'
import { updatesOf } from '../render/updates.ts'
import type { Follower } from './follower.ts'
import type { IdleTasks } from './idle-tasks.ts'
import type { SessionSender } from './session-sender.ts'

export interface FollowTaskDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly sender: SessionSender
  /** Whether the message is a prompt of this connection. */
  readonly prompted: (messageId: string) => boolean
  readonly questions: Questions
  readonly idle: IdleTasks
  readonly detached: AbortSignal
}

/** Resolves after the last record of the task, or when `detached` aborts. */
export async function followTask(
  deps: FollowTaskDeps,
  taskId: string,
  follower: Follower,
): Promise<void> {
  const { acp, caller, sender, questions, detached } = deps
  const { task, held } = follower
  if (task !== undefined) {
    questions.reconcile(task)
    await sender.taskFound(task, questions.asking(taskId))
  }
  const reading = await acp.engine.follow(caller, taskId, {
    after: task?.version ?? 0,
    shown: held,
  })
  const stop = (): void => reading.close()
  if (detached.aborted) stop()
  detached.addEventListener('abort', stop)
  try {
    for (;;) {
      const given = await reading.next()
      if (given === undefined || detached.aborted) return
      if ('chunks' in given)
        for (const chunk of given.chunks) await sendChunk(deps, follower, chunk)
      else for (const record of given.records) await sendRecord(deps, follower, record)
    }
  } finally {
    detached.removeEventListener('abort', stop)
    reading.close()
  }
}

async function sendChunk(
  { sender }: FollowTaskDeps,
  follower: Follower,
  chunk: TextChunk,
): Promise<void> {
  const { task, held } = follower
  if (task === undefined || task.parentId !== undefined) return
  for (const update of chunkUpdates(task.id, held, chunk)) await sender.show({ update }, false)
  follower.held = afterChunk(held, chunk)
}

async function sendRecord(
  { acp, sender, prompted, questions, idle }: FollowTaskDeps,
  follower: Follower,
  record: LogRecord,
): Promise<void> {
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
  follower.moved(task, record)
  idle.update(task)
}
