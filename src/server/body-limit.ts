import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { refusal } from './refusals.ts'

/**
 * Refuses bodies that are too large. A declared length is compared without touching the body, so that reading it stays
 * as quick as the adapter makes it; only a body of unknown length is counted while it is read.
 */
export function limitBody(bytes: number): MiddlewareHandler {
  const tooLarge = (): Response =>
    refusal(413, 'LIMIT_EXCEEDED', `The body is larger than ${bytes} bytes`)
  const counted = bodyLimit({ maxSize: bytes, onError: tooLarge })

  return (c, next) => {
    const { headers } = c.req.raw
    if (headers.get('transfer-encoding') !== null) return counted(c, next)
    return Number(headers.get('content-length') ?? 0) > bytes ? Promise.resolve(tooLarge()) : next()
  }
}
