/** Answers outside any protocol, all of one shape: `{error: {code, message}}`. */
import { isLullError } from '../core/errors.ts'

export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify({ error: { code, message } }), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
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

/** What our own errors mean in HTTP, where no protocol says otherwise. */
const statusOf: Readonly<Record<string, number>> = {
  INVALID_INPUT: 400,
  LIMIT_EXCEEDED: 429,
  DRAINING: 503,
  STORE_UNAVAILABLE: 503,
}

/** An error that is not ours leaves as "Internal error": the log has the rest. */
export function refusalOf(error: unknown): Response {
  if (!isLullError(error)) return refusal(500, 'INTERNAL', 'Internal error')
  return refusal(statusOf[error.code] ?? 500, error.code, error.message)
}
