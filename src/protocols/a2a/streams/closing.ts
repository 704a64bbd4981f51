/** Open streams and waiting calls. They end when the server stops or the client disconnects. */
import type { Signal } from '../../../core/signal.ts'

export interface Closable {
  close(): void
}

/**
 * Closes everything at once. It uses a `Set`, because an `AbortSignal` with ten thousand listeners
 * removes one by linear search.
 */
export interface Closing {
  /** Whether the server has closed. */
  readonly closed: boolean
  /** Adds a stream or call. It is closed at once if the server has already closed. */
  add(one: Closable): void
  delete(one: Closable): void
  close(): void
}

export function createClosing(): Closing {
  const open = new Set<Closable>()
  let closed = false

  return {
    get closed() {
      return closed
    },
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
 * A signal that aborts when it is closed. It is cheaper than an `AbortController`, whose creation
 * would dominate the cost of a call.
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
