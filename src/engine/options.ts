import { LullError } from '../core/errors.ts'
import { inMs, type WithDurations } from '../core/values/duration.ts'

/** Limits and times of an engine. A request that reaches a limit is refused with an error that names the limit. */
export interface EngineOptions {
  /** How many tasks of one agent run at the same time. An agent's own `concurrency` overrides it. */
  readonly concurrency: number
  /**
   * The share of an agent's slots that one tenant may take, of its own slots and the free ones together: above 0, at most 1.
   * With 1 a tenant may take every slot.
   */
  readonly tenantShare: number
  /**
   * Whether a task that a budget stops is told the figures of budgets that count several tenants. A server without
   * authentication tells them, because each of its callers is an operator of all tenants.
   */
  readonly figuresOfAllTenants: boolean
  /** How long a stopped run stays in memory. */
  readonly warmForMs: number
  /** Above this, stopped runs are dropped from memory: of the tenant with the most, the one that stopped first at first. */
  readonly memoryLimitBytes: number
  /** How long the answer to a pause may wait for its commit. */
  readonly graceMs: number
  /**
   * How long a step that was told to stop, by its time limit or a pause, counts as in flight. After that its task waits for it
   * no longer, and says that it may still act. A step's own `abandonAfterMs` overrides it.
   */
  readonly abandonAfterMs: number
  /** Whether a resume must name the handle. */
  readonly requireHandle: boolean
  /** How many processes may die while running a task, without a new record of it, before the task is stopped. */
  readonly maxDeaths: number
  /** The most bytes that a step's result and its streams may have together. */
  readonly stepResultBytes: number
  /** How many records a journal may have before the task is stopped with `journal-limit`. */
  readonly journalRecords: number
  /** How many bytes a journal may have before the task is stopped with `journal-limit`. */
  readonly journalBytes: number
  /** How many bytes of a context, the newest ones, an agent sees of it. */
  readonly contextBytes: number
  /** About how many bytes of tasks a list answers with. It then has fewer tasks than were asked for. */
  readonly listBytes: number
  /** How many parents may be above a task, and how many children a task may have. */
  readonly taskDepth: number
  readonly childrenPerTask: number
  /** How many reminders may be pending on one task. */
  readonly pendingReminders: number
  /** How many reminders a principal may add in a minute, to all of its tasks. */
  readonly remindersPerMinute: number
  /** How many distinct filters without a fixed type a principal may have. Every event is compared with each of them. */
  readonly filtersWithoutType: number
  /** How many bytes a principal may store, how many tasks, and how many tasks that have not ended. */
  readonly storedBytes: number
  readonly storedTasks: number
  readonly openTasks: number
  /** How many holds in effect the operators of a tenant may have, and how many ids of tasks these may name together. */
  readonly holds: number
  readonly heldTaskIds: number
  /** How many times as much the principals of a tenant may store, and how many times as many filters they may have, together. */
  readonly tenantFactor: number
  /** New work is refused when the disk has less free space than this, or the database is larger than this. */
  readonly freeDiskBytes: number
  readonly databaseBytes: number
  /** How many messages, and bytes of messages, a task's history may have. The task refuses further messages. */
  readonly historyMessages: number
  readonly historyBytes: number
  /** How many messages, and bytes of messages, may wait for a task's next turn. */
  readonly queuedMessages: number
  readonly queuedBytes: number
  /** Agent code that blocks the event loop for this long is logged and shown in `health`. */
  readonly blockMs: number
  /** About how many bytes the records of an imported task may have. */
  readonly importBytes: number
  /** How many tasks, and about how many bytes of tasks, are kept in memory for reading. */
  readonly cachedTasks: number
  readonly cachedBytes: number
  /** How many commands, and bytes of messages in them, may wait for the store before new messages are refused. */
  readonly waitingCommands: number
  readonly waitingBytes: number
  /** How long events are kept, for tasks that begin to wait for them later. */
  readonly eventsForMs: number
  /** How long idempotency keys are kept. */
  readonly claimsForMs: number
  /** How long a task is kept after it ended. Infinity keeps it forever. */
  readonly tasksForMs: number
  /** How long stateless messages are kept in their context. Default: `tasksForMs`. */
  readonly messagesForMs: number
  /** How long a session is kept after its last use. Default: `tasksForMs`. */
  readonly sessionsForMs: number
  /** How long a hold is kept after it was lifted. */
  readonly holdsForMs: number
  /** How long entries of the audit log are kept. */
  readonly auditForMs: number
  /** Whether a bare `messageId` that is a UUID makes a send idempotent. */
  readonly messageIdIsKey: boolean
  /** In a shared store: how long a process that does not answer keeps its tasks. */
  readonly leaseMs: number
  /**
   * In a shared store: how long code that holds the event loop may do so before its process loses its tasks. Default: two
   * leases.
   */
  readonly blockedAfterMs: number
  /** In a shared store: how often a process asks for what others have changed, in case it was not told. */
  readonly pollMs: number
}

/** Options as they are given. Times are milliseconds, or texts such as `'30 days'`. */
export type EngineSettings = Partial<WithDurations<EngineOptions>>

const HOUR_MS = 3_600_000

export const defaultOptions: EngineOptions = {
  concurrency: 64,
  tenantShare: 1,
  figuresOfAllTenants: false,
  warmForMs: 60_000,
  memoryLimitBytes: 1_500_000_000,
  graceMs: 10_000,
  abandonAfterMs: 60_000,
  requireHandle: false,
  maxDeaths: 5,
  stepResultBytes: 1_048_576,
  journalRecords: 10_000,
  journalBytes: 67_108_864,
  contextBytes: 16_777_216,
  listBytes: 4_194_304,
  taskDepth: 64,
  childrenPerTask: 1_000,
  pendingReminders: 64,
  remindersPerMinute: 6_000,
  filtersWithoutType: 250,
  storedBytes: 4_294_967_296,
  storedTasks: 5_000_000,
  openTasks: 2_000_000,
  holds: 1_000,
  heldTaskIds: 100_000,
  tenantFactor: 4,
  freeDiskBytes: 268_435_456,
  databaseBytes: Number.POSITIVE_INFINITY,
  historyMessages: 10_000,
  historyBytes: 67_108_864,
  queuedMessages: 1_000,
  queuedBytes: 33_554_432,
  blockMs: 250,
  importBytes: 268_435_456,
  cachedTasks: 2_048,
  cachedBytes: 268_435_456,
  waitingCommands: 20_000,
  waitingBytes: 268_435_456,
  eventsForMs: 24 * HOUR_MS,
  claimsForMs: 24 * HOUR_MS,
  tasksForMs: Number.POSITIVE_INFINITY,
  messagesForMs: Number.POSITIVE_INFINITY,
  sessionsForMs: Number.POSITIVE_INFINITY,
  holdsForMs: 30 * 24 * HOUR_MS,
  auditForMs: 90 * 24 * HOUR_MS,
  messageIdIsKey: true,
  leaseMs: 15_000,
  blockedAfterMs: 30_000,
  pollMs: 1_000,
}

export const NOT_A_SHARE = 'must be above 0 and at most 1'

/** With a share of 0, no task of any tenant could start. */
export function isShare(value: number): boolean {
  return value > 0 && value <= 1
}

/** @throws LullError `INVALID_INPUT` for a text that is no duration, and for a `tenantShare` that is no share */
export function withDefaults(settings: EngineSettings = {}): EngineOptions {
  const given: Partial<EngineOptions> = inMs(settings)
  const { tasksForMs = defaultOptions.tasksForMs } = given
  const { leaseMs = defaultOptions.leaseMs } = given
  const { tenantShare = defaultOptions.tenantShare } = given
  if (!isShare(tenantShare))
    throw new LullError('INVALID_INPUT', { path: 'tenantShare', problem: NOT_A_SHARE })
  const derived = {
    messagesForMs: tasksForMs,
    sessionsForMs: tasksForMs,
    blockedAfterMs: 2 * leaseMs,
  }
  return { ...defaultOptions, ...derived, ...given }
}
