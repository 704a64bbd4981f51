/**
 * The past of a context: its stateless messages and its tasks with their artifacts, as far as the principal may see
 * them.
 *
 * P1  A task's first record says which part of the context the task sees: which tasks at which versions, and messages up
 *     to which position. A rebuilt run sees exactly this part, and retention keeps it while the task is open.
 */
import { fold } from '../../core/evolve.ts'
import type { Message } from '../../core/messages/message.ts'
import type { ContextSnapshot, Submission } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { weightOf } from '../../core/values/weight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoredContextMessage } from '../../ports/store/claims.ts'
import { conversation, noPast, type Past } from '../author/conversation.ts'
import type { EngineContext } from '../context.ts'
import { contextBegunBy } from './context-id.ts'
import { readWithin } from './read-within.ts'

type Deps = Pick<EngineContext, 'store' | 'ledger' | 'options'> & {
  readonly versions?: PastVersions
}
/** Whose conversation it is. */
type ConversationKey = Pick<Submission, 'tenant' | 'principal' | 'contextId'>

/** At most so many of the newest tasks, and so many of the newest messages, are seen. */
const MOST = 200
/** Messages read at once. */
const FEW = 8

/** The past that a task's run sees. */
export async function pastOfTask(deps: Deps, task: Task): Promise<Past> {
  const [message] = task.history
  const beganContext = task.contextId === contextBegunBy(task.id) && task.forkedFrom === undefined
  if (message === undefined || beganContext) return noPast
  const [first] = await deps.store.records(task.tenant, task.id, 0, 1)
  if (first?.type !== 'submitted' || first.seen === undefined) return noPast
  // A fork sees the context of the task whose past it has.
  return read(deps, first, message, first.seen)
}

/** The past that an agent's `receive` sees. */
export async function pastOfMessage(
  deps: Deps,
  key: ConversationKey,
  message: Message,
): Promise<Past> {
  return read(deps, key, message, await seenNow(deps, key, message))
}

/**
 * What a task or message that is added to the context now will see: the newest tasks and messages, of each about as many
 * bytes as the limit allows. Tasks that the message refers to come first.
 */
export async function seenNow(
  { store, ledger, options }: Deps,
  key: ConversationKey,
  { referenceTaskIds = [] }: Message,
): Promise<ContextSnapshot> {
  const { tenant, principal, contextId } = key
  const rows = await store.list({ tenant, principal, contextId, limit: MOST })
  const ids = new Set([...referenceTaskIds, ...rows.map(({ id }) => id)])
  const isSeen = isOf(key)
  const tasks = await readWithin(store, options.contextBytes, [...ids], async (id) => {
    const task = await ledger.read(id, tenant)
    return task !== undefined && isSeen(task) ? task : undefined
  })
  const messages = await newestMessages(store, key, { bytes: options.contextBytes })
  const first = messages.at(0)?.pos
  return {
    tasks: tasks.values.map(({ id, version }) => [id, version]),
    messagesUpTo: messages.at(-1)?.pos ?? 0,
    ...(first === undefined ? {} : { messagesFrom: first }),
  }
}

/** Which messages are wanted. */
interface Range {
  readonly upTo?: number
  readonly from?: number
  readonly bytes?: number
}

/** The newest messages in the range, oldest first. They are read a few at a time, because each may be large. */
async function newestMessages(
  store: Deps['store'],
  { tenant, principal, contextId }: ConversationKey,
  { upTo, from = 0, bytes = Number.POSITIVE_INFINITY }: Range,
): Promise<readonly StoredContextMessage[]> {
  const newestFirst: StoredContextMessage[] = []
  let used = 0
  for (let last = upTo; newestFirst.length < MOST; ) {
    const page = await store.contextMessages(tenant, principal, contextId, FEW, last)
    for (const message of [...page].reverse()) {
      used += weightOf(message)
      const isWanted = message.pos >= from && (used <= bytes || newestFirst.length === 0)
      if (!isWanted) return newestFirst.reverse()
      newestFirst.push(message)
    }
    const [oldest] = page
    if (oldest === undefined || page.length < FEW) break
    last = oldest.pos - 1
  }
  return newestFirst.slice(0, MOST).reverse()
}

/** Whether the task belongs to the conversation. An imported log can name any task. */
function isOf({ tenant, principal, contextId }: ConversationKey): (task: Task) => boolean {
  return (task) =>
    task.contextId === contextId && task.tenant === tenant && task.principal === principal
}

async function read(
  { store, ledger, versions }: Deps,
  key: ConversationKey,
  message: Message,
  { tasks: seen, messagesUpTo, messagesFrom = 0 }: ContextSnapshot,
): Promise<Past> {
  const isSeen = isOf(key)
  const found = await Promise.all(
    seen.map(async ([id, version]) => {
      const task = await ledger.read(id, key.tenant)
      return task !== undefined && isSeen(task)
        ? atVersion({ store, ...(versions && { versions }) }, task, version)
        : undefined
    }),
  )
  const tasks = found
    .filter((task) => task !== undefined)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  const range = { from: messagesFrom, upTo: messagesUpTo }
  const stateless = await newestMessages(store, key, range)
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
  { store, versions }: Pick<Deps, 'store' | 'versions'>,
  task: Task,
  version: number,
): Promise<Task | undefined> {
  if (task.version === version) return task
  const from = versions?.get(task, version)
  if (from?.version === version) return from
  let then = from
  for (let after = from?.version ?? 0; after < version; after += PAGE) {
    const page = await store.records(task.tenant, task.id, after, Math.min(PAGE, version - after))
    if (page.length === 0) break
    then = fold(page, then)
  }
  if (then !== undefined) versions?.set(then)
  return then
}

/** Records read at once. */
const PAGE = 256

/** Older versions of tasks that were read a moment ago. */
export interface PastVersions {
  /** The newest one up to that version. */
  get(task: Task, version: number): Task | undefined
  set(task: Task): void
  /** The store may have lost what was read. */
  clear(): void
}

/** Tasks, and versions of one task. */
const KEPT_TASKS = 256
const KEPT_OF_A_TASK = 4
const KEPT_MS = 5_000

/**
 * The children that a task delegates one after the other see their parent and each other at versions that grow. Each is read
 * from where the one before it ended, so that the reads of many children do not grow with the square of their number.
 */
export function createPastVersions(clock: Pick<Clock, 'after'>): PastVersions {
  /** Oldest version first. */
  const kept = new Map<string, readonly Task[]>()
  let cancel: (() => void) | undefined
  const clear = (): void => {
    cancel?.()
    cancel = undefined
    kept.clear()
  }
  return {
    get(task, version) {
      return kept.get(keyOf(task))?.findLast((one) => one.version <= version)
    },
    set(task) {
      const key = keyOf(task)
      const others = (kept.get(key) ?? []).filter(({ version }) => version !== task.version)
      kept.delete(key)
      const all = [...others, task].sort((a, b) => a.version - b.version)
      kept.set(key, all.slice(-KEPT_OF_A_TASK))
      const [oldest] = kept.keys()
      if (kept.size > KEPT_TASKS && oldest !== undefined) kept.delete(oldest)
      cancel ??= clock.after(KEPT_MS, clear)
    },
    clear,
  }
}

function keyOf({ tenant, id }: Task): string {
  return `${tenant}\n${id}`
}
