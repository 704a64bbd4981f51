/** What has to end when the server stops or the client goes away. A Set, because an AbortSignal with ten thousand
 * listeners takes a linear search to remove one. */
export interface Closing {
  /** A signal that fires when the server closes or `also` fires; `release` lets go of both. */
  watch(also: AbortSignal | undefined): {
    readonly signal: AbortSignal
    readonly abort: () => void
    readonly release: () => void
  }
  close(): void
}

export function createClosing(): Closing {
  const open = new Set<() => void>()
  let closed = false

  return {
    watch(also) {
      const controller = new AbortController()
      const abort = (): void => controller.abort()
      if (closed || also?.aborted) abort()
      open.add(abort)
      also?.addEventListener('abort', abort)
      return {
        signal: controller.signal,
        abort,
        release() {
          open.delete(abort)
          also?.removeEventListener('abort', abort)
        },
      }
    },
    close() {
      closed = true
      for (const abort of [...open]) abort()
      open.clear()
    },
  }
}
