/**
 * Logs failures of a store of any kind, and measures its commits. Invariants (watch-store.test.ts):
 *  W1  a failure is logged at once, and at most once a minute while it lasts, with the number of
 *      failed calls;
 *  W2  the first successful commit after it is logged;
 *  W3  a lost store (only a restart helps) is logged when it is lost, not at the next call.
 */

import { isLullError, type LullError } from '../../core/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Meter } from '../../ports/meter.ts'
import type { Store } from '../../ports/store.ts'

export interface StoreWatch {
  /** Wraps the store so that its failures are logged. */
  watched(store: Store): Store
  /** Called when the store is lost. */
  lose(error: LullError<'STORE_UNAVAILABLE'>): void
  /** Why only a restart of the process helps. Undefined while the store works or may work again. */
  lost(): string | undefined
}

const AGAIN_MS = 60_000

type Method = (...args: readonly unknown[]) => Promise<unknown>

export function watchStore(log: Log, clock: Pick<Clock, 'now'>): StoreWatch {
  /** For each reason, when it was last logged and how many calls have failed since. */
  const failing = new Map<string, { loggedAt: number; failures: number }>()
  let lost: string | undefined
  let closed = false

  function failed(error: unknown): void {
    if (closed || !isLullError(error, 'STORE_UNAVAILABLE')) return
    const { why } = error.details
    const known = failing.get(why) ?? { loggedAt: Number.NEGATIVE_INFINITY, failures: 0 }
    failing.set(why, known)
    known.failures++
    if (clock.now() - known.loggedAt < AGAIN_MS) return
    log('error', 'the store failed', { why, failures: known.failures })
    known.loggedAt = clock.now()
    known.failures = 0
  }

  function worked(): void {
    if (failing.size === 0) return
    failing.clear()
    log('info', 'the store works again')
  }

  const observed =
    (name: string, method: Method): Method =>
    (...args) => {
      if (name === 'close') closed = true
      const answer = method(...args)
      answer.then(name === 'commit' ? worked : undefined, failed)
      return answer
    }

  return {
    watched: (store) => ({
      ...store,
      ...Object.fromEntries(
        Object.entries(store)
          .filter(([, method]) => typeof method === 'function')
          .map(([name, method]) => [name, observed(name, method as Method)]),
      ),
    }),
    lose(error) {
      lost = error.details.why
      failed(error)
    },
    lost: () => lost,
  }
}

/** Wraps a store so that its commits are counted and timed. */
export function measureStore(store: Store, meter: Meter): Store {
  return {
    ...store,
    async commit(batch) {
      const started = performance.now()
      try {
        return await store.commit(batch)
      } catch (error) {
        meter.add('lull_store_failures_total')
        throw error
      } finally {
        meter.add('lull_commits_total', batch.length)
        meter.observe('lull_commit_seconds', performance.now() - started)
      }
    },
  }
}
