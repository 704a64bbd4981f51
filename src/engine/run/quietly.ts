/**
 * Calls for agent code. What nobody awaits must not take the process down, so its failure counts as seen; and a call that
 * is refused rejects, whether the mistake was found at once or later.
 */
export function quietly<T>(call: () => Promise<T>): Promise<T> {
  let promise: Promise<T>
  try {
    promise = call()
  } catch (error) {
    promise = Promise.reject(error)
  }
  promise.catch(() => undefined)
  return promise
}
