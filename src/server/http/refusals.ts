/** Errors outside any protocol. All have the shape `{error: {code, message, path?}}`. */
import { type ErrorCode, isLullError } from '../../core/errors.ts'
import { retryAfterSeconds } from '../../core/values/retry-after.ts'
import type { HttpHeaders } from '../../http/http.ts'
import type { Refused } from '../auth/admission.ts'

/** @param path the path of the invalid member, like `data.path` in JSON-RPC */
export function refusalText(code: string, message: string, path = ''): string {
  return JSON.stringify({ error: { code, message, ...(path === '' ? {} : { path }) } })
}

export const jsonHeaders: HttpHeaders = { 'content-type': 'application/json' }

const tooMany = { ...jsonHeaders, 'retry-after': '1' }

/** The answer when a limit of the caller or of the server was reached. */
export function refusalAbove({ limit, value }: Refused): RefusalParts {
  const text = refusalText('LIMIT_EXCEEDED', `The limit ${limit} (${value}) is reached`)
  return { status: limit.endsWith('of the server') ? 503 : 429, headers: tooMany, text }
}

export function refusal(
  status: number,
  code: string,
  message: string,
  headers: HttpHeaders = {},
  path?: string,
): Response {
  return new Response(refusalText(code, message, path), {
    status,
    headers: { ...jsonHeaders, ...headers },
  })
}

export function notFound(path: string): Response {
  return refusal(404, 'NOT_FOUND', `There is nothing at ${path}`)
}

export function notAllowed(method: string, allowed: readonly string[]): Response {
  const allow = allowed.join(', ')
  return refusal(405, 'METHOD_NOT_ALLOWED', `${method} is not possible here; use ${allow}`, {
    allow,
  })
}

/**
 * The HTTP status of each error code, unless a protocol defines another. A new code does not
 * compile until it is here.
 */
const statusOf: Readonly<Record<ErrorCode, number>> = {
  INVALID_INPUT: 400,
  CONSENT_MISMATCH: 400,
  TASK_NOT_FOUND: 404,
  NOT_FOUND: 404,
  AGENT_UNKNOWN: 404,
  NOT_OFFERED: 404,
  TASK_NOT_PAUSABLE: 409,
  TASK_NOT_PAUSED: 409,
  RESUME_HANDLE_MISMATCH: 409,
  TASK_TERMINAL: 409,
  TASK_HELD: 409,
  BUDGET_EXCEEDED: 409,
  NOT_ASKING: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  REMINDER_LIMIT: 429,
  LIMIT_EXCEEDED: 429,
  FORBIDDEN: 403,
  CONSENT_NOT_YOURS: 403,
  DRAINING: 503,
  OVERLOADED: 503,
  RECORD_REFUSED: 400,
  STORE_UNAVAILABLE: 503,
  STORE_LOCKED: 503,
  TASK_UNREADABLE: 500,
  STEP_RESULT: 500,
  STEP_TIMEOUT: 500,
  CONSENT_DENIED: 500,
  STALE_RUN: 500,
}

/**
 * The answer to an error. One that is not a `LullError` becomes "Internal error"; its details are
 * only logged.
 */
export function refusalOf(error: unknown): Response {
  const { status, headers, text } = refusalParts(error)
  return new Response(text, { status, headers })
}

export interface RefusalParts {
  readonly status: number
  readonly headers: HttpHeaders
  readonly text: string
}

/** As `refusalOf`, for answers that are written without the application. */
export function refusalParts(error: unknown): RefusalParts {
  if (!isLullError(error)) {
    const text = refusalText('INTERNAL', 'Internal error')
    return { status: 500, headers: jsonHeaders, text }
  }
  const { code, message, details } = error
  const path = 'path' in details && code === 'INVALID_INPUT' ? details.path : undefined
  const seconds = retryAfterSeconds(details, code === 'STORE_UNAVAILABLE')
  const headers = seconds === undefined ? jsonHeaders : { ...jsonHeaders, 'retry-after': seconds }
  return { status: statusOf[code], headers, text: refusalText(code, message, path) }
}
