import { toIso } from './values/instant.ts'

/**
 * All failures that a caller can act on: one class, a closed set of codes, typed details. Each protocol maps every code
 * in a total table, so a new code does not compile until every protocol maps it. `docs/errors.md` explains each code.
 */
export interface ErrorDetails {
  /** There is no such task, or the caller may not see it. The error does not say which. */
  TASK_NOT_FOUND: { taskId: string }
  /** There is no such hold, budget, rule, schedule or tenant, or the caller may not see it. The error does not say which. */
  NOT_FOUND: {
    what: 'hold' | 'budget' | 'rule' | 'schedule' | 'tenant'
    id: string
    /** What there is instead, or how a name looks. */
    instead?: string
  }
  /** The request is wrong. `path` is the dotted path of the mistake, and `problem` says what to send instead. */
  INVALID_INPUT: { path: string; problem: string }
  /** The state does not allow a pause. */
  TASK_NOT_PAUSABLE: { taskId: string; state: string; why: string }
  /**
   * The task is not paused. If another resume ended the pause, `cause` and `resumedAt` describe
   * that resume.
   */
  TASK_NOT_PAUSED: { taskId: string; state: string; cause?: string; resumedAt?: number }
  /** The handle is not the one of the current suspension. */
  RESUME_HANDLE_MISMATCH: { taskId: string; handle: string }
  /** The task has ended and does not change any more. */
  TASK_TERMINAL: { taskId: string; state: string }
  /** An operator holds the task. It goes on when the hold is lifted. */
  TASK_HELD: { taskId: string; holdIds: readonly string[] }
  /**
   * A budget that covers the task is used up. The task can be resumed after the budget is refilled,
   * raised or removed.
   */
  BUDGET_EXCEEDED: { taskId: string; budgetId: string; figures: string }
  /** A structured answer names a consent question that is not the open one. */
  CONSENT_MISMATCH: { taskId: string; consentId: string }
  /** The consent asks for another person than this one. */
  CONSENT_NOT_YOURS: { taskId: string; consentId: string; why: string }
  /** The task does not ask this (any more). The last members describe the answer that came first. */
  NOT_ASKING: {
    taskId: string
    state: string
    decision?: string
    answeredBy?: { kind: string; id: string }
    /** Epoch milliseconds. */
    answeredAt?: number
  }
  /** Too many pending reminders on one task. */
  REMINDER_LIMIT: { taskId: string; limit: number }
  /** The same explicit idempotency key was used before with another message. */
  IDEMPOTENCY_KEY_REUSED: { key: string }
  /** The agent does not offer this capability. */
  NOT_OFFERED: { agent: string; capability: string }
  /** No agent of that name is registered in this process. */
  AGENT_UNKNOWN: { agent: string }
  /** A configured limit was reached. */
  LIMIT_EXCEEDED: {
    limit: string
    value: number
    /** Present when the request may succeed later. */
    retryAfterMs?: number
    /** What the caller can request instead. */
    instead?: string
  }
  /** The caller's credential lacks a scope. */
  FORBIDDEN: { scope: string }
  /** The engine is shutting down and accepts no new work. */
  DRAINING: { retryAfterMs: number }
  /** The store cannot read or write at the moment. Nothing of this call was written. */
  STORE_UNAVAILABLE: {
    why: string
    /** Present when only a restart of the process helps. */
    restart?: true
  }
  /**
   * The stored task cannot be read: its log is damaged, or a newer version wrote it. Other tasks
   * are not affected.
   */
  TASK_UNREADABLE: { taskId: string; why: string }
  /**
   * The store works, but it cannot store what this command would write. Trying again does not help.
   */
  RECORD_REFUSED: { taskId: string; why: string }
  /** A limit of the whole server is reached. Nothing of this call was written. */
  OVERLOADED: { limit: string; value: number; retryAfterMs: number }
  /** Another process has the data directory open. */
  STORE_LOCKED: { path: string; owner: string }
  /**
   * The step fails because its result would change in a JSON round trip (`path` says where), or is
   * larger than the limit.
   */
  STEP_RESULT: { step: string; problem: string; path?: string }
  /** A step ran longer than its `timeoutMs`. */
  STEP_TIMEOUT: { step: string; timeoutMs: number }
  /** The user denied consent. If the agent does not catch it, the task ends as rejected. */
  CONSENT_DENIED: { prompt: string; comment?: string }
  /** The run that sent the command no longer has the task. This error never leaves the engine. */
  STALE_RUN: { taskId: string }
}

export type ErrorCode = keyof ErrorDetails

const message: { readonly [C in ErrorCode]: (details: ErrorDetails[C]) => string } = {
  TASK_NOT_FOUND: (d) => `Task ${d.taskId} was not found`,
  NOT_FOUND: (d) =>
    `There is no ${d.what} ${d.id}${d.instead === undefined ? '' : `; ${d.instead}`}`,
  INVALID_INPUT: (d) => (d.path === '' ? d.problem : `${d.path}: ${d.problem}`),
  TASK_NOT_PAUSABLE: (d) => `Task ${d.taskId} cannot be paused: ${d.why}`,
  TASK_NOT_PAUSED: (d) =>
    `Task ${d.taskId} is ${d.state}, not paused${d.cause === undefined ? '' : `; it was already resumed (${d.cause})`}`,
  RESUME_HANDLE_MISMATCH: (d) =>
    `Handle ${d.handle} is not the current suspension of task ${d.taskId}`,
  TASK_TERMINAL: (d) => `Task ${d.taskId} is ${d.state} and cannot change any more`,
  TASK_HELD: (d) => `Task ${d.taskId} is held by an operator (${d.holdIds.join(', ')})`,
  BUDGET_EXCEEDED: (d) => `Task ${d.taskId} cannot go on: budget used up, ${d.figures}`,
  CONSENT_MISMATCH: (d) => `Consent ${d.consentId} is not what task ${d.taskId} asked for`,
  CONSENT_NOT_YOURS: (d) => `You cannot grant consent ${d.consentId} of task ${d.taskId}: ${d.why}`,
  NOT_ASKING: (d) => `Task ${d.taskId} is ${d.state} and does not ask this${answerText(d)}`,
  REMINDER_LIMIT: (d) => `Task ${d.taskId} already has ${d.limit} pending reminders`,
  IDEMPOTENCY_KEY_REUSED: (d) => `Idempotency key ${d.key} was used for another message`,
  NOT_OFFERED: (d) => `Agent ${d.agent} does not offer ${d.capability}`,
  AGENT_UNKNOWN: (d) => `No agent named ${d.agent} is registered`,
  FORBIDDEN: (d) => `This needs the scope ${d.scope}`,
  LIMIT_EXCEEDED: (d) =>
    `The limit ${d.limit} (${d.value}) is reached${d.instead === undefined ? '' : `; ${d.instead}`}`,
  DRAINING: () => 'The server is stopping and takes no new work; try again shortly',
  STORE_UNAVAILABLE: (d) => `The store is unavailable: ${d.why}`,
  TASK_UNREADABLE: (d) => `Task ${d.taskId} cannot be read: ${d.why}`,
  RECORD_REFUSED: (d) => `This cannot be stored in task ${d.taskId}: ${d.why}`,
  OVERLOADED: (d) =>
    `The server has reached its limit ${d.limit} (${d.value}); try again in ${d.retryAfterMs} ms`,
  STORE_LOCKED: (d) => `${d.path} is in use by another process (${d.owner})`,
  STEP_RESULT: (d) => `Step "${d.step}": ${d.problem}`,
  STEP_TIMEOUT: (d) => `Step "${d.step}" took longer than ${d.timeoutMs} ms`,
  CONSENT_DENIED: (d) =>
    `Consent denied: ${d.prompt}${d.comment === undefined ? '' : ` (${d.comment})`}`,
  STALE_RUN: (d) => `Task ${d.taskId} is run by another process now`,
}

function answerText({ decision, answeredBy, answeredAt }: ErrorDetails['NOT_ASKING']): string {
  if (answeredAt === undefined) return ''
  const who = answeredBy === undefined ? '' : ` by ${answeredBy.id}`
  return `; it was ${decision ?? 'answered'}${who} at ${toIso(answeredAt)}`
}

/** `decide` returns a refusal as a value. The engine throws it as a `LullError`. */
export type Refusal<C extends ErrorCode = ErrorCode> = {
  [K in C]: { readonly code: K; readonly details: ErrorDetails[K] }
}[C]

/**
 * What Lull throws. `code` is one of a closed set, and `details` has its facts. Each code has a page in `docs/errors.md`.
 *
 * @example
 * ```ts
 * import { agent, LullError, openEngine } from 'lull'
 *
 * const echo = agent({ name: 'echo', description: 'Repeats', run: (task) => task.text })
 *
 * const { engine, close } = await openEngine({ agents: [echo] })
 * try {
 *   await engine.get({ tenant: 'default', principal: 'ann' }, 'no-such-task')
 * } catch (error) {
 *   if (!(error instanceof LullError)) throw error
 *   process.stderr.write(`${error.code}: ${error.message}\n`)
 * }
 * await close()
 * ```
 */
export class LullError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'LullError'
  readonly code: C
  readonly details: ErrorDetails[C]

  constructor(code: C, details: ErrorDetails[C], options?: ErrorOptions) {
    super(message[code](details), options)
    this.code = code
    this.details = details
  }
}

/**
 * Recognizes a `LullError` also from another copy of the package, where `instanceof` fails. Never
 * throws, whatever the value is.
 *
 * @example
 * ```ts
 * import { isLullError } from 'lull'
 *
 * export function secondsToWait(error: unknown): number | undefined {
 *   if (!isLullError(error, 'OVERLOADED')) return undefined
 *   return Math.ceil((error.details.retryAfterMs ?? 1_000) / 1_000)
 * }
 * ```
 */
export function isLullError<C extends ErrorCode>(error: unknown, code?: C): error is LullError<C> {
  try {
    return (
      error instanceof Error &&
      error.name === 'LullError' &&
      (code === undefined || (error as LullError).code === code)
    )
  } catch {
    return false
  }
}

export function refuse<C extends ErrorCode>(
  code: C,
  details: ErrorDetails[C],
): { readonly refusal: Refusal } {
  return { refusal: { code, details } as Refusal }
}

export function toError<C extends ErrorCode>(refusal: Refusal<C>): LullError<C> {
  return new LullError<C>(refusal.code, refusal.details)
}
