/**
 * A lock shared with the writing thread. The thread holds it during each call, so the process can
 * stop the thread between two calls. Stopping a thread inside SQLite's code would crash the process
 * at an ordinary exit.
 */
const FREE = 0
const HELD = 1
const CLOSED = 2

export interface WriterLock {
  readonly memory: SharedArrayBuffer
  /** Runs the work while the lock is held. Returns undefined, without running it, once the process is exiting. */
  during<T>(work: () => Promise<T>): Promise<T> | undefined
  /** Blocks until the running call has ended, at most `timeoutMs`. Afterwards no call starts. */
  close(timeoutMs: number): void
}

export function createWriterLock(memory: SharedArrayBuffer = new SharedArrayBuffer(4)): WriterLock {
  const state = new Int32Array(memory)

  function release(): void {
    Atomics.store(state, 0, FREE)
    Atomics.notify(state, 0)
  }

  return {
    memory,
    during(work) {
      if (Atomics.compareExchange(state, 0, FREE, HELD) !== FREE) return undefined
      return work().finally(release)
    },
    close(timeoutMs) {
      const until = performance.now() + timeoutMs
      while (
        Atomics.compareExchange(state, 0, FREE, CLOSED) === HELD &&
        performance.now() < until
      ) {
        Atomics.wait(state, 0, HELD, timeoutMs)
      }
    },
  }
}
