/**
 * Tells the health check whether commits succeed. A failure is reported until a commit succeeds, at
 * most for `SHOWN_MS`.
 */
import { describeError } from '../../core/values/describe-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'

export interface StoreTrouble {
  failed(error: unknown): void
  worked(): void
  /** The error of the last commit, if none has succeeded since. */
  readonly current: () => string | undefined
}

/**
 * A process that writes nothing would not notice that the store works again. After this time, only
 * the store's own check counts.
 */
const SHOWN_MS = 30_000

export function createStoreTrouble(clock: Pick<Clock, 'now'>, log: Log): StoreTrouble {
  let last: { readonly why: string; readonly at: number } | undefined
  return {
    failed(error) {
      const why = describeError(error).message
      if (last?.why !== why) log('error', 'the store cannot write; callers are refused', { why })
      last = { why, at: clock.now() }
    },
    worked() {
      if (last === undefined) return
      last = undefined
      log('info', 'the store writes again')
    },
    current: () => (last !== undefined && clock.now() - last.at < SHOWN_MS ? last.why : undefined),
  }
}
