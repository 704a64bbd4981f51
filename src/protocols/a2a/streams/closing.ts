/** The open streams and waiting calls. They end when the server stops or the client disconnects. */
import type { Signal } from '../../../core/signal.ts'

export interface Closable {
  close(): void
}

/** Implemented as a Set, because an AbortSignal searches its listeners linearly to remove one of ten thousand. */
export interface Closing {
  /** Closes it at once when the server has already closed. */
  add(one: Closable): void
  delete(one: Closable): void
  close(): void
}

export function createClosing(): Closing {
  const open = new Set<Closable>()
  let closed = false

  return {
    add(one) {
      if (closed) one.close()
      else open.add(one)
    },
    delete(one) {
      open.delete(one)
    },
    close() {
      closed = true
      for (const one of [...open]) one.close()
      open.clear()
    },
  }
}

/**
 * A signal that fires when it is closed. It is cheaper than an AbortController, which would dominate the cost of a
 * call.
 */
export interface Ending extends Signal, Closable {}

export function createEnding(): Ending {
  const listeners = new Set<() => void>()
  let aborted = false

  return {
    get aborted() {
      return aborted
    },
    addEventListener: (_abort, listener) => listeners.add(listener),
    removeEventListener: (_abort, listener) => listeners.delete(listener),
    close() {
      if (aborted) return
      aborted = true
      for (const listener of [...listeners]) listener()
    },
  }
}
