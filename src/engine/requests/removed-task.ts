/** A task that retention has removed, as far as it is still known. */
import { evolve } from '../../core/evolve.ts'
import { type Message, messageTo } from '../../core/messages/message.ts'
import type { Task } from '../../core/task.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'

/** @param message the one that created it, sent again */
export function remainsOf(row: TaskRow | undefined, message: Message): Task | undefined {
  if (row === undefined) return undefined
  const {
    id: taskId,
    tenant,
    principal,
    agent,
    contextId,
    parentId,
    state,
    createdAt,
    statusAt,
  } = row
  const submission = {
    taskId,
    tenant,
    principal,
    agent,
    contextId,
    parentId,
    message: messageTo(message, taskId, contextId),
    eventsAfter: 0,
  }
  const created = evolve(undefined, { type: 'submitted', ...submission, seq: 1, at: createdAt })
  return { ...created, state, statusAt, updatedAt: statusAt, queued: [] }
}
