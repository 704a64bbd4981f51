/** The conversation a task or message belongs to, as far as its principal may see it. */
import type { Message } from '../core/message.ts'
import type { Task } from '../core/task.ts'
import type { EngineContext } from './context.ts'
import { type Conversation, conversation, emptyConversation } from './conversation.ts'

/** An agent that needs more of a long conversation keeps it itself. */
const MOST = 200

interface Place {
  readonly tenant: string
  readonly principal: string
  readonly contextId: string
}

/** A context that begins with a task is named after it: then nothing came before, and nobody has to look. */
export function contextBegunBy(taskId: string): string {
  return `context-${taskId}`
}

/** What the task's own run may see. */
export async function contextOfRun(
  deps: Pick<EngineContext, 'store' | 'ledger'>,
  task: Task,
): Promise<{ readonly context: Conversation; readonly referenced: readonly Task[] }> {
  const [message] = task.history
  if (message === undefined || task.contextId === contextBegunBy(task.id)) {
    return { context: emptyConversation, referenced: [] }
  }
  return contextOf(deps, task, message, task)
}

/**
 * What happened in the context before: stateless messages, tasks with their artifacts, and the tasks the message refers
 * to. `before` leaves out what came later, so that a rebuilt run sees no more than the first one did.
 */
export async function contextOf(
  { store, ledger }: Pick<EngineContext, 'store' | 'ledger'>,
  place: Place,
  message: Message,
  before?: Task,
): Promise<{ readonly context: Conversation; readonly referenced: readonly Task[] }> {
  const { tenant, principal, contextId } = place
  const rows = await store.list({ tenant, principal, contextId, limit: MOST })
  const read = await Promise.all(rows.map((row) => ledger.read(row.id)))
  const tasks = read
    .filter((task) => task !== undefined)
    .filter(
      (task) =>
        before === undefined || (task.id !== before.id && task.createdAt <= before.createdAt),
    )
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  const stateless = await store.contextMessages(tenant, principal, contextId, MOST)
  const messages = [
    ...stateless.filter(({ at }) => before === undefined || at <= before.createdAt),
    ...tasks.map((task) => ({ at: task.createdAt, message: task.history[0] })),
  ]
    .sort((a, b) => a.at - b.at)
    .flatMap((one) => one.message ?? [])
  const named = new Set(message.referenceTaskIds ?? [])
  return {
    context: conversation(messages, tasks),
    referenced: tasks.filter((task) => named.has(task.id)),
  }
}
