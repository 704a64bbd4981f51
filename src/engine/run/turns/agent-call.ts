/**
 * Wraps every call that agent code makes. An invalid call always rejects and never throws at once. A rejection that no code
 * awaits does not end the process.
 */
export function agentCall<T>(call: () => Promise<T>): Promise<T> {
  let promise: Promise<T>
  try {
    promise = call()
  } catch (error) {
    promise = Promise.reject(error)
  }
  promise.catch(() => undefined)
  return promise
}
