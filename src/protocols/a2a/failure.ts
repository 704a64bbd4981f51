/** A failure as each version and binding shows it. Nothing of an unexpected error leaves but "Internal error". */
import { type ErrorCode, isLullError, type LullError } from '../../core/errors.ts'
import { toIso } from '../../core/instant.ts'
import { A2AError, type FaultDetails, type FaultName, faultOf, faults } from './faults.ts'
import type { Version } from './versions.ts'

export interface Failure {
  readonly fault: FaultName
  readonly message: string
  readonly details: FaultDetails
}

/** How a method differs from `faultOf`. */
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

/** The RFCs answer an unknown task of a control method with -32004; A2A 1.0 has another meaning for it. */
export function codeOf({ fault }: Failure, version: Version, control: boolean): number {
  if (fault === 'TASK_NOT_FOUND' && control && version === '0.3') return -32004
  return faults[fault].code
}

export function reasonOf({ fault }: Failure): FaultName {
  return faults[fault].reason ?? fault
}

/** `error.data` of JSON-RPC: free in 0.3, an array of `@type`d objects in 1.0 (§9.5). */
export function dataOf(failure: Failure, version: Version): unknown {
  if (version === '1.0') return detailsArray(failure)
  return { reason: reasonOf(failure), ...withoutUndefined(failure.details) }
}

/** Shared with the `details` of REST bodies (§11.6). */
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

/** ErrorInfo's metadata is a map of strings. */
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
