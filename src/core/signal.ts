/** What tells somebody who waits to stop: an `AbortSignal`, or anything with as much of its face. */
export interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
