/** Reading a request's body: JSON by its content type, strict, and nothing at all where that is allowed. */
import { parseStrictJson } from '../../../wire/strict-json.ts'
import { A2AError } from '../faults.ts'

const JSON_TYPE = /^application\/(?:json|a2a\+json)\s*(?:;|$)/i

export function isJson(contentType: string | null): boolean {
  return contentType !== null && JSON_TYPE.test(contentType)
}

/** @throws A2AError when it is not JSON, or not JSON we take. Undefined: there was no body. */
export async function readJson(request: Request, read: Uint8Array | undefined): Promise<unknown> {
  const body = read ?? new Uint8Array(await request.arrayBuffer())
  if (body.length === 0) return undefined
  if (!isJson(request.headers.get('content-type'))) {
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json')
  }
  const parsed = parseStrictJson(body)
  if (parsed.problem === undefined) return parsed.value
  const fault = parsed.fault === 'syntax' ? 'PARSE_ERROR' : 'INVALID_REQUEST'
  throw new A2AError(fault, parsed.problem)
}
