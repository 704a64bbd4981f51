/** Reads the JSON body of a request. */
import type { HttpRequest } from '../../../http/http.ts'
import { parseStrictJson } from '../../../http/strict-json.ts'
import { A2AError } from '../errors/faults.ts'

const JSON_TYPE = /^application\/(?:json|a2a\+json)\s*(?:;|$)/i

/** @returns undefined when there is no body @throws A2AError for another content type, or for invalid JSON */
export function readJson(request: HttpRequest): unknown {
  const { body } = request
  if (body.length === 0) return undefined
  const type = request.header('content-type') ?? ''
  // The usual form, checked without the regular expression.
  if (type !== 'application/json' && !JSON_TYPE.test(type)) {
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json')
  }
  const parsed = parseStrictJson(body)
  if (parsed.problem === undefined) return parsed.value
  const fault = parsed.fault === 'syntax' ? 'PARSE_ERROR' : 'INVALID_REQUEST'
  throw new A2AError(fault, parsed.problem)
}
