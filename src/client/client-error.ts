/** The one error class of the client, and what a caller can do about each `reason`. Programs branch on `reason`. */
import type { JsonObject } from '../core/values/json.ts'

/**
 * - `refused`: the peer refused the request and changed nothing.
 * - `unreachable`: no answer, or not the answer of an A2A agent. It is unknown whether the peer acted.
 * - `unsupported`: the peer does not offer the operation.
 */
export type ClientErrorKind = 'refused' | 'unreachable' | 'unsupported'

export interface ClientErrorInit {
  readonly reason: string
  readonly code?: number | undefined
  readonly status?: number | undefined
  readonly path?: string | undefined
  readonly details?: JsonObject | undefined
  readonly cause?: unknown
}

export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly kind: ClientErrorKind
  /** A stable code such as `TASK_NOT_FOUND`. Programs branch on it. */
  readonly reason: string
  /** The JSON-RPC error code, if there is one. */
  readonly code: number | undefined
  /** The HTTP status, if the server answered. */
  readonly status: number | undefined
  /** The dotted path of the invalid field. */
  readonly path: string | undefined
  /** Further data from the peer, such as the state of the task. */
  readonly details: JsonObject
  /** What the caller can do, in one sentence. */
  readonly advice: string

  constructor(kind: ClientErrorKind, message: string, init: ClientErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    this.kind = kind
    this.reason = init.reason
    this.code = init.code
    this.status = init.status
    this.path = init.path
    this.details = init.details ?? {}
    this.advice = adviceFor(init.reason)
  }

  /** Whether the same call may succeed later. */
  get isTransient(): boolean {
    const transient = ['UNREACHABLE', 'UNAVAILABLE', 'LIMIT_EXCEEDED']
    return this.kind !== 'unsupported' && transient.includes(this.reason)
  }
}

/** Recognizes errors of another copy of this package too, which `instanceof` does not. */
export function isClientError(error: unknown, reason?: string): error is ClientError {
  return (
    error instanceof Error &&
    error.name === 'ClientError' &&
    (reason === undefined || (error as ClientError).reason === reason)
  )
}

/** The request got no answer. @param cause the error of `fetch` */
export function unreachable(url: string, cause: unknown): ClientError {
  const message = `Cannot reach ${url}: ${reasonOf(cause)}`
  return new ClientError('unreachable', message, { reason: 'UNREACHABLE', cause })
}

export function notA2A(what: string, status?: number): ClientError {
  const message = `The answer is not one of an A2A agent: ${what}`
  return new ClientError('unreachable', message, { reason: 'NOT_A2A', status })
}

export function unsupported(what: string, cause?: unknown): ClientError {
  const message = `This agent does not offer ${what}`
  return new ClientError('unsupported', message, { reason: 'NOT_SUPPORTED', cause })
}

/** A failed fetch says only "fetch failed"; its innermost cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}

/** What a caller can do, by reason. Other peers may have reasons that are not listed here. */
const adviceByReason: Readonly<Record<string, string>> = {
  UNREACHABLE: 'Check the address and that the server runs; it may be starting again.',
  NOT_A2A: 'Check the address: give the base URL of an agent, or the URL of its card.',
  NOT_SUPPORTED: 'Look at capabilities() first, and choose a fallback where the call has one.',
  NOT_WAITING:
    'Read the task: only one that waits for input, authorisation or consent is answered.',
  ORIGIN_NOT_ALLOWED: 'If the card may lead there, name the origin in `origins`.',
  UNAUTHENTICATED: 'Send credentials with the `headers` option; the card says which.',
  FORBIDDEN: 'Call with credentials that have the scope named in the details.',
  TASK_NOT_FOUND: 'Check the id, and that you call as the one who started the task.',
  TASK_NOT_CANCELABLE: 'Nothing: the task has ended.',
  TASK_TERMINAL: 'Refer to the task in a new message (referenceTaskIds) to build on it.',
  TASK_NOT_PAUSABLE: 'Look at details.state: a task that waits or is parked stands still already.',
  TASK_NOT_PAUSED: 'Nothing to do if another caller was first: details.cause says who.',
  RESUME_HANDLE_MISMATCH: 'Read the task and take the handle it shows now.',
  NOT_ASKING: 'Nothing to do if somebody else was first: the message says who.',
  CONSENT_NOT_YOURS: 'Ask somebody whom the consent names.',
  TASK_HELD: 'Wait until the operator lifts the hold.',
  BUDGET_EXCEEDED: 'Ask an operator to refill or raise the budget, or cancel the task.',
  TASK_UNREADABLE: 'Ask the operator: the log of the task is damaged or of a newer version.',
  REMINDER_LIMIT: 'Clear reminders, or give them a dedupeKey or ttlTurns.',
  IDEMPOTENCY_KEY_REUSED: 'Use a new key for a new message.',
  INVALID_PARAMS: 'Correct the field named by `path`.',
  INVALID_INPUT: 'Correct the field named by `path`.',
  METHOD_NOT_FOUND: 'Look at capabilities() for what the agent offers.',
  NOT_OFFERED: 'Look at capabilities() for what the agent offers.',
  UNSUPPORTED_OPERATION: 'Read the task: its state or the agent does not allow this.',
  CONTENT_TYPE_NOT_SUPPORTED: 'Send parts of the media types that the card lists.',
  VERSION_NOT_SUPPORTED: 'Connect by the card, which says what versions are spoken.',
  LIMIT_EXCEEDED: 'Try again later, and less often.',
  UNAVAILABLE: 'Try again shortly.',
}

function adviceFor(reason: string): string {
  const advice = Object.hasOwn(adviceByReason, reason) ? adviceByReason[reason] : undefined
  return advice ?? 'Read what the peer says in the message.'
}
