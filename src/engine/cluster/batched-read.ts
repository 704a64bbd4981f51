/** Calls of one event-loop turn share one read. The read starts after the last of them, so none gets an older answer. */
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
