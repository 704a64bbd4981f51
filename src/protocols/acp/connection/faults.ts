/**
 * Converts errors to ACP. The table is total over the error codes of Lull, so a new code does not compile without an entry.
 * Clients branch on `data.reason`, because ACP defines only a few numbers.
 */

import { RequestError } from '@agentclientprotocol/sdk'
import {
  type ErrorCode,
  type ErrorDetails,
  isLullError,
  type LullError,
} from '../../../core/errors.ts'
import { isTerminal, type State } from '../../../core/states.ts'
import { toIso } from '../../../core/values/instant.ts'

export const INVALID_PARAMS = -32602
export const METHOD_NOT_FOUND = -32601
export const INTERNAL = -32603
export const NOT_FOUND = -32002
/** The state of the session does not allow the call. `data.reason` says why. */
export const STATE_CONFLICT = -32011
/** The handle is not the one of the current suspension. */
export const HANDLE_MISMATCH = -32012

interface Fault<C extends ErrorCode> {
  readonly code: number
  readonly reason?: string | ((details: ErrorDetails[C]) => string)
}

const faults: { readonly [C in ErrorCode]: Fault<C> } = {
  TASK_NOT_FOUND: { code: NOT_FOUND },
  NOT_FOUND: { code: INVALID_PARAMS, reason: 'not_found' },
  INVALID_INPUT: { code: INVALID_PARAMS },
  TASK_NOT_PAUSABLE: {
    code: STATE_CONFLICT,
    reason: ({ state }) => (isTerminal(state as State) ? 'run_terminal' : 'not_running'),
  },
  TASK_NOT_PAUSED: { code: STATE_CONFLICT, reason: 'not_suspended' },
  RESUME_HANDLE_MISMATCH: { code: HANDLE_MISMATCH, reason: 'handle_mismatch' },
  TASK_TERMINAL: { code: STATE_CONFLICT, reason: 'run_terminal' },
  TASK_HELD: { code: STATE_CONFLICT, reason: 'session_held' },
  BUDGET_EXCEEDED: { code: STATE_CONFLICT, reason: 'budget_exceeded' },
  CONSENT_MISMATCH: { code: INVALID_PARAMS, reason: 'consent_mismatch' },
  CONSENT_NOT_YOURS: { code: STATE_CONFLICT, reason: 'consent_not_yours' },
  NOT_ASKING: { code: STATE_CONFLICT, reason: 'not_asking' },
  REMINDER_LIMIT: { code: STATE_CONFLICT, reason: 'reminder_limit' },
  IDEMPOTENCY_KEY_REUSED: { code: INVALID_PARAMS, reason: 'idempotency_key_reused' },
  NOT_OFFERED: { code: METHOD_NOT_FOUND, reason: 'not_offered' },
  AGENT_UNKNOWN: { code: INVALID_PARAMS, reason: 'agent_unknown' },
  LIMIT_EXCEEDED: { code: STATE_CONFLICT, reason: 'limit_exceeded' },
  FORBIDDEN: { code: NOT_FOUND, reason: 'forbidden' },
  DRAINING: { code: INTERNAL, reason: 'draining' },
  STORE_UNAVAILABLE: { code: INTERNAL, reason: 'unavailable' },
  TASK_UNREADABLE: { code: INTERNAL, reason: 'unreadable' },
  RECORD_REFUSED: { code: INVALID_PARAMS, reason: 'content_refused' },
  OVERLOADED: { code: INTERNAL, reason: 'overloaded' },
  STORE_LOCKED: { code: INTERNAL, reason: 'unavailable' },
  STEP_RESULT: { code: INTERNAL },
  STEP_TIMEOUT: { code: INTERNAL },
  CONSENT_DENIED: { code: INTERNAL },
  STALE_RUN: { code: INTERNAL },
}

/**
 * Converts any error. An unexpected one becomes "Internal error" without details, which are passed
 * to `report`.
 */
export function toRequestError(error: unknown, report: (error: unknown) => void): RequestError {
  if (error instanceof RequestError) return error
  if (!isLullError(error)) {
    report(error)
    return new RequestError(INTERNAL, 'Internal error')
  }
  const { code, reason } = faults[error.code] as Fault<ErrorCode>
  const why = typeof reason === 'function' ? reason(error.details) : reason
  if (code === INTERNAL && why === undefined) {
    report(error)
    return new RequestError(INTERNAL, 'Internal error')
  }
  return new RequestError(code, error.message, {
    ...(why === undefined ? {} : { reason: why }),
    ...detailsOf(error),
  })
}

function detailsOf(error: LullError): object {
  const { resumedAt, ...rest } = error.details as { resumedAt?: number }
  return resumedAt === undefined ? rest : { ...rest, resumedAt: toIso(resumedAt) }
}

/**
 * Distinguishes why the signal of a request aborted: the client cancelled it (`$/cancel_request`),
 * or the connection was lost.
 */
const REQUEST_CANCELLED = -32800

export function isCancellation(reason: unknown): boolean {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    'code' in reason &&
    reason.code === REQUEST_CANCELLED
  )
}
