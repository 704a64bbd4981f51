/** The conversation a task or message belongs to, as far as its principal may see it. */
import { evolve } from '../core/evolve.ts'
import type { Message } from '../core/message.ts'
import type { Task } from '../core/task.ts'
import type { EngineContext } from './context.ts'
import { conversation, noPast, type Past } from './conversation.ts'
import { logOf } from './log-of.ts'

/** An agent that needs more of a long conversation keeps it itself. */
const MOST = 200

interface Place {
  readonly tenant: string
  readonly principal: string
  readonly contextId: string
}

/**
 * A context that begins with a task is named after it, so that nobody has to look what came before: nothing did. The
 * task's UUIDv7 becomes a UUIDv8 with the same bits (RFC 9562 §5.8), because peers keep ids in 36 characters.
 */
export function contextBegunBy(taskId: string): string {
  return taskId.charAt(14) === '7'
    ? `${taskId.slice(0, 14)}8${taskId.slice(15)}`
    : `context-${taskId}`
}

/** What the task's own run may see. */
export async function contextOfRun(
  deps: Pick<EngineContext, 'store' | 'ledger'>,
  task: Task,
): Promise<Past> {
  const [message] = task.history
  if (message === undefined || task.contextId === contextBegunBy(task.id)) {
    return noPast
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
): Promise<Past> {
  const { tenant, principal, contextId } = place
  const rows = await store.list({ tenant, principal, contextId, limit: MOST })
  const earlier = rows.filter(
    (row) => before === undefined || (row.id !== before.id && row.createdAt <= before.createdAt),
  )
  const read = await Promise.all(
    earlier.map(async (row) => {
      const task = await ledger.read(row.id)
      return task && before ? asOf(store, task, before.createdAt) : task
    }),
  )
  const tasks = read
    .filter((task) => task !== undefined)
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

/** The task as it was at that instant: what it did since is not to be seen. */
async function asOf(
  store: EngineContext['store'],
  task: Task,
  instant: number,
): Promise<Task | undefined> {
  if (task.updatedAt <= instant) return task
  let then: Task | undefined
  for await (const record of logOf(store, task.id)) {
    if (record.at > instant) break
    then = evolve(then, record)
  }
  return then
}
