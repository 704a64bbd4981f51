/**
 * Lets the writing thread work one call at a time, and lets the process stop it between two. A thread that is ended in the
 * middle of SQLite's code takes the process down with a message nobody wants to read at an ordinary exit.
 */
const IDLE = 0
const BUSY = 1
const SHUT = 2

export interface WriterLock {
  readonly memory: SharedArrayBuffer
  /** False: the process is exiting, nothing is to begin any more. */
  enter(): boolean
  leave(): void
  /** Blocks until the call under way is over, at most so long; none begins after it. */
  shut(timeoutMs: number): void
}

export function createWriterLock(memory: SharedArrayBuffer = new SharedArrayBuffer(4)): WriterLock {
  const state = new Int32Array(memory)
  return {
    memory,
    enter: () => Atomics.compareExchange(state, 0, IDLE, BUSY) === IDLE,
    leave() {
      Atomics.store(state, 0, IDLE)
      Atomics.notify(state, 0)
    },
    shut(timeoutMs) {
      const until = Date.now() + timeoutMs
      while (Atomics.compareExchange(state, 0, IDLE, SHUT) === BUSY && Date.now() < until) {
        Atomics.wait(state, 0, BUSY, timeoutMs)
      }
    },
  }
}
