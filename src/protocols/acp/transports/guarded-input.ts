/**
 * Rejects messages with too many values before the SDK parses them. The SDK would parse and
 * validate millions of values at once, and block the event loop for seconds.
 */
import { isTooCostly } from '../../../http/strict-json.ts'

/** The request with its body already read. Undefined if the body has too many values. */
export async function guardedRequest(request: Request): Promise<Request | undefined> {
  if (request.method !== 'POST') return request
  const body = await request.text()
  if (isTooCostly(body)) return undefined
  const { url, method, headers } = request
  return new Request(url, { method, headers, body })
}
