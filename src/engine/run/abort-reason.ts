/** Why the signal of a step or of a task fires. A step that ran out of time gets the `STEP_TIMEOUT` error instead. */
export type AbortCode =
  | 'paused'
  | 'canceled'
  | 'ended'
  | 'given-up'
  | 'evicted'
  | 'stopping'
  | 'taken-over'

const sentences: Readonly<Record<AbortCode, string>> = {
  paused: 'interrupted by a pause',
  canceled: 'the task was canceled',
  ended: 'the task has ended',
  'given-up': 'the run was given up by a pause; it is rebuilt on resume',
  evicted: 'the run was evicted from memory; it is rebuilt when the task goes on',
  stopping: 'the process is stopping; another one goes on with the task',
  'taken-over': 'another process has taken the task over',
}

/** The reason of the signal. Its name is the one that `fetch` and timers use, so that callers know an abort. */
export class Aborted extends Error {
  override readonly name = 'AbortError'
  readonly code: AbortCode

  constructor(code: AbortCode) {
    super(sentences[code])
    this.code = code
  }
}

/** Rejects when the signal fires, because the stop of the task waits until the step has ended. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
}
