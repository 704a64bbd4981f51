/**
 * The result of agent code that must answer at once. A promise is no answer, and it may be rejected later: no code waits
 * for it, and that must not end the process.
 */
export function notAwaited<T>(result: T): T {
  if (result instanceof Promise) result.catch(() => undefined)
  return result
}
