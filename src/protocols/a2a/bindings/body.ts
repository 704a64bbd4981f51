/** Reading a request's body: JSON by its content type, strict, and nothing at all where that is allowed. */
import type { HttpRequest } from '../../../wire/http.ts'
import { parseStrictJson } from '../../../wire/strict-json.ts'
import { A2AError } from '../faults.ts'

const JSON_TYPE = /^application\/(?:json|a2a\+json)\s*(?:;|$)/i

/** @throws A2AError when it is not JSON, or not JSON we take. Undefined: there was no body. */
export function readJson(request: HttpRequest): unknown {
  const { body } = request
  if (body.length === 0) return undefined
  const type = request.header('content-type') ?? ''
  // As nearly everybody writes it.
  if (type !== 'application/json' && !JSON_TYPE.test(type)) {
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json')
  }
  const parsed = parseStrictJson(body)
  if (parsed.problem === undefined) return parsed.value
  const fault = parsed.fault === 'syntax' ? 'PARSE_ERROR' : 'INVALID_REQUEST'
  throw new A2AError(fault, parsed.problem)
}
