/** A fork: the past of another task becomes the past of a new one. */
import type { Message } from '../messages/message.ts'
import type { LogRecord } from '../records.ts'
import type { Task } from '../task.ts'
import { noUsage } from './own-task.ts'

const none: readonly never[] = []

/**
 * The new task keeps the history, the journal, the reminders and the chain of receipts. It does not
 * keep what concerns the other task alone: parent and children, the run and its abandoned steps,
 * pause, holds, resumes and usage.
 */
export function fork(
  task: Task,
  { taskId, contextId, from, step, at }: LogRecord & { readonly type: 'forked' },
): Partial<Task> {
  const own = (message: Message): Message => ({ ...message, taskId, contextId })
  return {
    id: taskId,
    contextId,
    forkedFrom: { taskId: from, step },
    parentId: undefined,
    depth: undefined,
    origin: undefined,
    createdAt: at,
    statusAt: at,
    statusMessage: task.statusMessage && own(task.statusMessage),
    history: task.history.map(own),
    queued: task.queued.map(own),
    pausing: undefined,
    resumes: none,
    holds: none,
    deferred: undefined,
    run: undefined,
    deaths: 0,
    abandoned: none,
    children: none,
    usage: noUsage,
  }
}
