/**
 * Every fault of a call, with the codes of A2A 1.0.1 (specification §5.4) and, for the control
 * methods, of the PAUSED RFC. There are two total tables: the codes of each fault, and the fault of
 * each error code, so a new error code does not compile until it has a row here. The functions at
 * the end render a failure for each version and binding.
 */

import { type ErrorCode, isLullError, type LullError } from '../../../core/errors.ts'
import { toIso } from '../../../core/values/instant.ts'
import { retryAfterSeconds } from '../../../core/values/retry-after.ts'
import type { HttpHeaders } from '../../../http/http.ts'
import type { Version } from '../addresses/versions.ts'

export type FaultName =
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'INVALID_PARAMS'
  | 'INTERNAL'
  | 'TASK_NOT_FOUND'
  | 'TASK_NOT_CANCELABLE'
  | 'PUSH_NOTIFICATION_NOT_SUPPORTED'
  | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED'
  | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'VERSION_NOT_SUPPORTED'
  | 'TASK_NOT_PAUSABLE'
  | 'TASK_NOT_PAUSED'
  | 'TASK_TERMINAL'
  | 'TASK_HELD'
  | 'BUDGET_EXCEEDED'
  | 'CONSENT_NOT_YOURS'
  | 'NOT_ASKING'
  | 'REMINDER_LIMIT'
  | 'RESUME_HANDLE_MISMATCH'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'NOT_OFFERED'
  | 'LIMIT_EXCEEDED'
  | 'UNAVAILABLE'
  | 'TASK_UNREADABLE'
  | 'FORBIDDEN'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BINDU_NOT_PAUSABLE'
  | 'BINDU_NOT_RESUMABLE'

export interface Fault {
  /** The error code of JSON-RPC. */
  readonly code: number
  readonly http: number
  /** The name of the gRPC status. REST bodies contain it too. */
  readonly status: string
  readonly domain: 'a2a-protocol.org' | 'lull'
  /** The reason in answers, if it differs from the name of the fault. */
  readonly reason?: FaultName
}

const theirs = (code: number, http: number, status: string): Fault => ({
  code,
  http,
  status,
  domain: 'a2a-protocol.org',
})
const ours = (code: number, http: number, status: string): Fault => ({
  code,
  http,
  status,
  domain: 'lull',
})

export const faults: Readonly<Record<FaultName, Fault>> = {
  PARSE_ERROR: theirs(-32700, 400, 'INVALID_ARGUMENT'),
  INVALID_REQUEST: theirs(-32600, 400, 'INVALID_ARGUMENT'),
  METHOD_NOT_FOUND: theirs(-32601, 404, 'UNIMPLEMENTED'),
  INVALID_PARAMS: theirs(-32602, 400, 'INVALID_ARGUMENT'),
  INTERNAL: theirs(-32603, 500, 'INTERNAL'),
  TASK_NOT_FOUND: theirs(-32001, 404, 'NOT_FOUND'),
  TASK_NOT_CANCELABLE: theirs(-32002, 400, 'FAILED_PRECONDITION'),
  PUSH_NOTIFICATION_NOT_SUPPORTED: theirs(-32003, 400, 'FAILED_PRECONDITION'),
  UNSUPPORTED_OPERATION: theirs(-32004, 400, 'FAILED_PRECONDITION'),
  CONTENT_TYPE_NOT_SUPPORTED: theirs(-32005, 400, 'INVALID_ARGUMENT'),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: theirs(-32007, 400, 'FAILED_PRECONDITION'),
  VERSION_NOT_SUPPORTED: theirs(-32009, 400, 'FAILED_PRECONDITION'),
  TASK_NOT_PAUSABLE: ours(-32011, 400, 'FAILED_PRECONDITION'),
  TASK_NOT_PAUSED: ours(-32011, 400, 'FAILED_PRECONDITION'),
  TASK_TERMINAL: ours(-32011, 400, 'FAILED_PRECONDITION'),
  TASK_HELD: ours(-32011, 400, 'FAILED_PRECONDITION'),
  BUDGET_EXCEEDED: ours(-32011, 400, 'FAILED_PRECONDITION'),
  CONSENT_NOT_YOURS: ours(-32011, 403, 'PERMISSION_DENIED'),
  NOT_ASKING: ours(-32011, 409, 'ABORTED'),
  REMINDER_LIMIT: ours(-32011, 400, 'FAILED_PRECONDITION'),
  RESUME_HANDLE_MISMATCH: ours(-32012, 409, 'ABORTED'),
  IDEMPOTENCY_KEY_REUSED: ours(-32602, 409, 'ABORTED'),
  NOT_OFFERED: ours(-32601, 404, 'UNIMPLEMENTED'),
  // The codes of A2A begin at -32001, so -32000 is the only server code that A2A does not define.
  LIMIT_EXCEEDED: ours(-32000, 429, 'RESOURCE_EXHAUSTED'),
  UNAVAILABLE: ours(-32000, 503, 'UNAVAILABLE'),
  TASK_UNREADABLE: ours(-32000, 500, 'DATA_LOSS'),
  FORBIDDEN: ours(-32000, 403, 'PERMISSION_DENIED'),
  // For the media type of the request, not of a part. A2A has the same error for both, but HTTP has
  // another status.
  UNSUPPORTED_MEDIA_TYPE: {
    ...theirs(-32005, 415, 'INVALID_ARGUMENT'),
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
  },
  BINDU_NOT_PAUSABLE: ours(-32040, 400, 'FAILED_PRECONDITION'),
  BINDU_NOT_RESUMABLE: ours(-32041, 400, 'FAILED_PRECONDITION'),
}

/**
 * The fault of each error code, unless the method overrides it. Codes that should never leave the
 * engine are internal errors.
 */
export const faultOf: Readonly<Record<ErrorCode, FaultName>> = {
  TASK_NOT_FOUND: 'TASK_NOT_FOUND',
  // Only operators name holds, budgets, rules and schedules, and not over A2A.
  NOT_FOUND: 'INVALID_PARAMS',
  INVALID_INPUT: 'INVALID_PARAMS',
  TASK_NOT_PAUSABLE: 'TASK_NOT_PAUSABLE',
  TASK_NOT_PAUSED: 'TASK_NOT_PAUSED',
  RESUME_HANDLE_MISMATCH: 'RESUME_HANDLE_MISMATCH',
  // For messages to a task that has ended (§3.1.1). `cancel` and the control methods override it.
  TASK_TERMINAL: 'UNSUPPORTED_OPERATION',
  TASK_HELD: 'TASK_HELD',
  BUDGET_EXCEEDED: 'BUDGET_EXCEEDED',
  CONSENT_MISMATCH: 'INVALID_PARAMS',
  CONSENT_NOT_YOURS: 'CONSENT_NOT_YOURS',
  NOT_ASKING: 'NOT_ASKING',
  REMINDER_LIMIT: 'REMINDER_LIMIT',
  IDEMPOTENCY_KEY_REUSED: 'IDEMPOTENCY_KEY_REUSED',
  NOT_OFFERED: 'NOT_OFFERED',
  AGENT_UNKNOWN: 'METHOD_NOT_FOUND',
  LIMIT_EXCEEDED: 'LIMIT_EXCEEDED',
  FORBIDDEN: 'FORBIDDEN',
  DRAINING: 'UNAVAILABLE',
  STORE_UNAVAILABLE: 'UNAVAILABLE',
  TASK_UNREADABLE: 'TASK_UNREADABLE',
  RECORD_REFUSED: 'INVALID_PARAMS',
  OVERLOADED: 'UNAVAILABLE',
  STORE_LOCKED: 'UNAVAILABLE',
  STEP_RESULT: 'INTERNAL',
  STEP_TIMEOUT: 'INTERNAL',
  CONSENT_DENIED: 'INTERNAL',
  STALE_RUN: 'INTERNAL',
}

export type FaultDetails = Readonly<Record<string, unknown>>

/** A call that fails before it reaches the engine. */
export class A2AError extends Error {
  override readonly name = 'A2AError'
  readonly fault: FaultName
  readonly details: FaultDetails

  constructor(fault: FaultName, message: string, details: FaultDetails = {}) {
    super(message)
    this.fault = fault
    this.details = details
  }
}

/** What an answer says about an error. Of unexpected errors it says only "Internal error". */
export interface Failure {
  readonly fault: FaultName
  readonly message: string
  readonly details: FaultDetails
}

/** The faults of a method that differ from `faultOf`. */
export type FaultOverrides = Partial<Readonly<Record<ErrorCode, FaultName>>>

export function failureOf(error: unknown, overrides: FaultOverrides = {}): Failure {
  if (error instanceof A2AError) {
    return { fault: error.fault, message: error.message, details: error.details }
  }
  if (isLullError(error)) {
    const fault = overrides[error.code] ?? faultOf[error.code]
    if (fault !== 'INTERNAL') return { fault, message: error.message, details: detailsOf(error) }
  }
  return { fault: 'INTERNAL', message: 'Internal error', details: {} }
}

function detailsOf(error: LullError): FaultDetails {
  const { resumedAt, ...rest } = error.details as { resumedAt?: number }
  return resumedAt === undefined ? rest : { ...rest, resumedAt: toIso(resumedAt) }
}

/**
 * The JSON-RPC code. For an unknown task, the RFCs answer control methods with -32004, which has
 * another meaning in A2A 1.0.
 */
export function codeOf({ fault }: Failure, version: Version, control: boolean): number {
  if (fault === 'TASK_NOT_FOUND' && control && version === '0.3') return -32004
  return faults[fault].code
}

export function reasonOf({ fault }: Failure): FaultName {
  return faults[fault].reason ?? fault
}

/** Adds `Retry-After` if a later attempt may succeed. */
export function retryHeaders({ fault, details }: Failure, headers: HttpHeaders): HttpHeaders {
  const seconds = retryAfterSeconds(details, fault === 'UNAVAILABLE')
  return seconds === undefined ? headers : { ...headers, 'retry-after': seconds }
}

/** `error.data` of JSON-RPC: any object in 0.3, an array of objects with `@type` in 1.0 (§9.5). */
export function dataOf(failure: Failure, version: Version): unknown {
  if (version === '1.0') return detailsArray(failure)
  return { reason: reasonOf(failure), ...withoutUndefined(failure.details) }
}

/** The details of an error in 1.0, also for REST bodies (§11.6). */
export function detailsArray(failure: Failure): readonly unknown[] {
  const { fault, details } = failure
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: reasonOf(failure),
    domain: faults[fault].domain,
    ...metadataOf(details),
  }
  const { path, problem } = details
  if (typeof path !== 'string' || typeof problem !== 'string') return [info]
  const violation = { field: path, description: problem }
  const badRequest = {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: [violation],
  }
  return [info, badRequest]
}

/** The metadata of `ErrorInfo`, which may contain only strings. */
function metadataOf(details: FaultDetails): { readonly metadata?: Record<string, string> } {
  const entries = Object.entries(withoutUndefined(details)).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return entries.length === 0 ? {} : { metadata: Object.fromEntries(entries) }
}

function withoutUndefined(details: FaultDetails): FaultDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined))
}
