/** What has to end when the server stops or the client goes away. */
import type { Signal } from '../../core/signal.ts'

export interface Closable {
  close(): void
}

/** A Set, because an AbortSignal with ten thousand listeners takes a linear search to remove one. */
export interface Closing {
  /** Closed at once when the server has closed already. */
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

/** A signal that fires when it is closed. An AbortController would cost more than the rest of a call. */
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
