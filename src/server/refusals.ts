/** Answers outside any protocol, all of one shape: `{error: {code, message, path?}}`. */
import { isLullError } from '../core/errors.ts'
import type { HttpHeaders } from '../wire/http.ts'

/** @param path what in the request is wrong, as `data.path` of JSON-RPC says it */
export function refusalText(code: string, message: string, path = ''): string {
  return JSON.stringify({ error: { code, message, ...(path === '' ? {} : { path }) } })
}

export const jsonHeaders: HttpHeaders = { 'content-type': 'application/json' }

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
  const { code, message, details } = error
  const path = 'path' in details && code === 'INVALID_INPUT' ? details.path : undefined
  return refusal(statusOf[code] ?? 500, code, message, {}, path)
}
