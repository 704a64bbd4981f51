/**
 * Joins all calls of one event-loop turn into one read. The read starts after the last call, so no
 * caller gets older data than at the time of its call.
 */
export function createBatchedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  return () => {
    next ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      next = undefined
      return read()
    })
    return next
  }
}
