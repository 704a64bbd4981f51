/**
 * The past of a context: its stateless messages and its tasks with their artifacts, as far as the principal may see
 * them.
 *
 * P1  A task's first record says which part of the context the task sees: which tasks at which versions, and messages up
 *     to which position. A rebuilt run sees exactly this part, and retention keeps it while the task is open.
 */
import { evolve } from '../core/evolve.ts'
import type { Message } from '../core/message.ts'
import type { ContextSnapshot, Submission } from '../core/records.ts'
import type { Task } from '../core/task.ts'
import type { EngineContext } from './context.ts'
import { contextBegunBy } from './context-id.ts'
import { conversation, noPast, type Past } from './conversation.ts'
import { logOf } from './log-of.ts'

type Deps = Pick<EngineContext, 'store' | 'ledger'>
/** Whose conversation it is. */
type ConversationKey = Pick<Submission, 'tenant' | 'principal' | 'contextId'>

/** At most so many of the newest tasks, and so many of the newest messages, are seen. */
const MOST = 200

/** The past that a task's run sees. */
export async function pastOfTask(deps: Deps, task: Task): Promise<Past> {
  const [message] = task.history
  if (message === undefined || task.contextId === contextBegunBy(task.id)) return noPast
  const [first] = await deps.store.records(task.id, 0, 1)
  const seen = first?.type === 'submitted' ? first.seen : undefined
  return seen === undefined ? noPast : read(deps, task, message, seen)
}

/** The past that an agent's `receive` sees. */
export async function pastOfMessage(
  deps: Deps,
  key: ConversationKey,
  message: Message,
): Promise<Past> {
  return read(deps, key, message, await seenNow(deps, key, message))
}

/** What a task or message that is added to the context now will see. */
export async function seenNow(
  { store, ledger }: Deps,
  { tenant, principal, contextId }: ConversationKey,
  { referenceTaskIds = [] }: Message,
): Promise<ContextSnapshot> {
  const rows = await store.list({ tenant, principal, contextId, limit: MOST })
  const ids = new Set([...rows.map(({ id }) => id), ...referenceTaskIds])
  const tasks = await Promise.all([...ids].map(ledger.read))
  const [lastMessage] = await store.contextMessages(tenant, principal, contextId, 1)
  return {
    tasks: tasks
      .filter((task) => task !== undefined)
      .filter((task) => task.contextId === contextId)
      .filter((task) => task.tenant === tenant && task.principal === principal)
      .map(({ id, version }) => [id, version]),
    messagesUpTo: lastMessage?.pos ?? 0,
  }
}

async function read(
  { store, ledger }: Deps,
  { tenant, principal, contextId }: ConversationKey,
  message: Message,
  seen: ContextSnapshot,
): Promise<Past> {
  const found = await Promise.all(
    seen.tasks.map(async ([id, version]) => atVersion(store, await ledger.read(id), version)),
  )
  const tasks = found
    .filter((task) => task !== undefined)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  const stateless = await store.contextMessages(
    tenant,
    principal,
    contextId,
    MOST,
    seen.messagesUpTo,
  )
  const messages = [
    ...stateless,
    ...tasks.map((task) => ({ at: task.createdAt, message: task.history[0] })),
  ]
    .sort((a, b) => a.at - b.at)
    .flatMap((one) => one.message ?? [])
  const referenced = new Set(message.referenceTaskIds ?? [])
  return {
    context: conversation(messages, tasks),
    referenced: tasks.filter((task) => referenced.has(task.id)),
  }
}

/** The task as it was at that version. */
async function atVersion(
  store: EngineContext['store'],
  task: Task | undefined,
  version: number,
): Promise<Task | undefined> {
  if (task === undefined || task.version === version) return task
  let then: Task | undefined
  for await (const record of logOf(store, task.id)) {
    if (record.seq > version) break
    then = evolve(then, record)
  }
  return then
}
