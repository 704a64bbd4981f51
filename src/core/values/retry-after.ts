/** The seconds after which a refused request may succeed, for the header `Retry-After`. Undefined when waiting does not help. */
export function retryAfterSeconds(details: {
  readonly retryAfterMs?: unknown
}): string | undefined {
  const { retryAfterMs } = details
  return typeof retryAfterMs === 'number' ? String(Math.ceil(retryAfterMs / 1_000)) : undefined
}
