/**
 * For agent code that must answer synchronously. If it returns a promise anyway, nobody awaits it,
 * so a later rejection must be caught here, because it would end the process.
 */
export function notAwaited<T>(result: T): T {
  if (result instanceof Promise) result.catch(() => undefined)
  return result
}
