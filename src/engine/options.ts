/** What can be tuned. Every limit is a clear error when reached. */
export interface EngineOptions {
  /** How many tasks of one agent run at the same time, unless the agent says so itself. */
  readonly concurrency: number
  /** How long a stopped run stays in memory. */
  readonly warmForMs: number
  /** Above this, the runs that are stopped longest leave memory first. */
  readonly memoryLimitBytes: number
  /** How long the answer to a pause may wait for its commit. */
  readonly graceMs: number
  /** Whether a resume must name the handle. */
  readonly requireHandle: boolean
  /** Processes that may die on a task without progress before it is stopped. */
  readonly maxDeaths: number
  readonly stepResultBytes: number
  readonly journalRecords: number
  readonly pendingReminders: number
  /** Messages in a task's history, and bytes of them, above which the task takes no further message. */
  readonly historyMessages: number
  readonly historyBytes: number
  /** Messages that may wait for a task's next turn, and bytes of them. */
  readonly queuedMessages: number
  readonly queuedBytes: number
  readonly blockMs: number
  /** Tasks kept in memory for reading, and about how many bytes of them. */
  readonly cachedTasks: number
  readonly cachedBytes: number
  /** Commands that may wait for the store, and bytes of the messages among them. Above it new messages are refused. */
  readonly waitingCommands: number
  readonly waitingBytes: number
  readonly eventsForMs: number
  readonly claimsForMs: number
  /** How long a task is kept after it ended; Infinity keeps it. */
  readonly tasksForMs: number
  /** How long stateless messages are kept in their context; as long as tasks, unless set. */
  readonly messagesForMs: number
  /** How long a session is kept after its last use; as long as tasks, unless set. */
  readonly sessionsForMs: number
  /** How long a hold is kept after it was lifted. */
  readonly holdsForMs: number
  /** Whether a bare `messageId` that is a UUID makes a send idempotent. */
  readonly messageIdIsKey: boolean
}

const HOUR_MS = 3_600_000

export const defaultOptions: EngineOptions = {
  concurrency: 64,
  warmForMs: 60_000,
  memoryLimitBytes: 1_500_000_000,
  graceMs: 10_000,
  requireHandle: false,
  maxDeaths: 5,
  stepResultBytes: 1_048_576,
  journalRecords: 10_000,
  pendingReminders: 64,
  historyMessages: 10_000,
  historyBytes: 67_108_864,
  queuedMessages: 1_000,
  queuedBytes: 33_554_432,
  blockMs: 250,
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
  messageIdIsKey: true,
}

export function withDefaults(given: Partial<EngineOptions> = {}): EngineOptions {
  const { tasksForMs = defaultOptions.tasksForMs } = given
  return { ...defaultOptions, messagesForMs: tasksForMs, sessionsForMs: tasksForMs, ...given }
}
