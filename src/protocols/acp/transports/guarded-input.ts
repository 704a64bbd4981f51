/**
 * Refuses messages with too many values before the SDK parses them. The SDK would parse and check millions of values at once,
 * and hold the event loop for seconds.
 */
import { isTooCostly } from '../../../http/strict-json.ts'

/** The same request with its body read. Undefined when its body is such a message. */
export async function guardedRequest(request: Request): Promise<Request | undefined> {
  if (request.method !== 'POST') return request
  const body = await request.text()
  if (isTooCostly(body)) return undefined
  const { url, method, headers } = request
  return new Request(url, { method, headers, body })
}
