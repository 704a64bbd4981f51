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
