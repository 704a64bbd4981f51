/** How long to wait when the store does not answer. A database that restarts takes some seconds. */
const STORE_MS = 1_000

/**
 * The value of the header `Retry-After`, in seconds. Undefined when waiting does not help.
 * @param ofStore whether the store is unavailable
 */
export function retryAfterSeconds(details: object, ofStore = false): string | undefined {
  const { restart, retryAfterMs = ofStore && restart !== true ? STORE_MS : undefined } =
    details as { readonly restart?: unknown; readonly retryAfterMs?: unknown }
  return typeof retryAfterMs === 'number' ? String(Math.ceil(retryAfterMs / 1_000)) : undefined
}
