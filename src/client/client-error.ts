/** The one error class of the client. Programs branch on `reason`. */
import type { JsonObject } from '../core/json.ts'
import { adviceFor } from './advice.ts'

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
  /** The error code of JSON-RPC, if there is one. */
  readonly code: number | undefined
  /** The status of HTTP, if there was an answer. */
  readonly status: number | undefined
  /** The dotted path of the invalid field. */
  readonly path: string | undefined
  /** Further facts from the peer, such as the state of the task. */
  readonly details: JsonObject
  /** What the caller can do, in one sentence. */
  readonly advice: string

  constructor(kind: ClientErrorKind, message: string, facts: ClientErrorInit) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.kind = kind
    this.reason = facts.reason
    this.code = facts.code
    this.status = facts.status
    this.path = facts.path
    this.details = facts.details ?? {}
    this.advice = adviceFor(facts.reason)
  }

  /** The same call may succeed later. */
  get isTransient(): boolean {
    const passing = ['UNREACHABLE', 'UNAVAILABLE', 'LIMIT_EXCEEDED']
    return this.kind !== 'unsupported' && passing.includes(this.reason)
  }
}

/** Safe across copies of the package, where `instanceof` is not. */
export function isClientError(error: unknown, reason?: string): error is ClientError {
  return (
    error instanceof Error &&
    error.name === 'ClientError' &&
    (reason === undefined || (error as ClientError).reason === reason)
  )
}

/** `cause` of a failed fetch says more than "fetch failed". */
export function unreachable(url: string, cause: unknown): ClientError {
  const message = `Cannot reach ${url}: ${sentenceOf(cause)}`
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

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof AggregateError && cause.errors.length > 0) return sentenceOf(cause.errors[0])
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
