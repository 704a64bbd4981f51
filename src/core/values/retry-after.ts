/** The value of the header `Retry-After`, in seconds. Undefined when waiting does not help. */
export function retryAfterSeconds(details: {
  readonly retryAfterMs?: unknown
}): string | undefined {
  const { retryAfterMs } = details
  return typeof retryAfterMs === 'number' ? String(Math.ceil(retryAfterMs / 1_000)) : undefined
}
