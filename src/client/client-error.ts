/** Everything that can go wrong between this client and a peer: one class, and a word to switch on. */
import type { JsonObject } from '../core/json.ts'
import { adviceFor } from './advice.ts'

/**
 * - `refused`: the peer answered, and the answer is no; nothing was changed.
 * - `unreachable`: there was no answer, or none of an A2A agent; whether the peer acted is not known.
 * - `unsupported`: the peer does not offer it; it was not asked, or said so.
 */
export type ClientErrorKind = 'refused' | 'unreachable' | 'unsupported'

export interface ClientErrorFacts {
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
  /** The stable word for it, such as `TASK_NOT_FOUND`: what programs should look at. */
  readonly reason: string
  /** JSON-RPC's number, where there was one. */
  readonly code: number | undefined
  /** HTTP's, where there was an answer. */
  readonly status: number | undefined
  /** The field that is wrong, dotted. */
  readonly path: string | undefined
  /** What the peer said beside it: the task's state, who was first, … */
  readonly details: JsonObject
  /** What to do about it, in a sentence. */
  readonly advice: string

  constructor(kind: ClientErrorKind, message: string, facts: ClientErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.kind = kind
    this.reason = facts.reason
    this.code = facts.code
    this.status = facts.status
    this.path = facts.path
    this.details = facts.details ?? {}
    this.advice = adviceFor(facts.reason)
  }

  /** Whether the same call may succeed a little later. */
  get isPassing(): boolean {
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
