/**
 * Renders a failure for each version and binding. Unexpected errors are shown only as "Internal
 * error".
 */
import { type ErrorCode, isLullError, type LullError } from '../../../core/errors.ts'
import { toIso } from '../../../core/values/instant.ts'
import { retryAfterSeconds } from '../../../core/values/retry-after.ts'
import type { HttpHeaders } from '../../../http/http.ts'
import type { Version } from '../addresses/versions.ts'
import { A2AError, type FaultDetails, type FaultName, faultOf, faults } from './faults.ts'

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
export function retryHeaders({ details }: Failure, headers: HttpHeaders): HttpHeaders {
  const seconds = retryAfterSeconds(details)
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
