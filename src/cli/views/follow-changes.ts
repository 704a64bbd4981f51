/**
 * Follows the change feed of a Lull server, also across restarts of the server.
 *
 *  L1  `connected` is called before the first change of each connection. The feed has only changes from then on, so
 *      `connected` must read the present state.
 *  L2  An error that a retry cannot fix ends the function. After any other error it connects again, with growing waits.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { isClientError } from '../../client/client-error.ts'
import type { Changes } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

export interface Feed {
  /** Must read the present state, because the feed has no changes from before the connection. */
  readonly connected: () => Promise<void>
  readonly changed: (changes: Changes) => Promise<void>
  readonly lost: () => void
}

export async function followChanges(
  ops: Pick<Ops, 'changes'>,
  feed: Feed,
  signal: AbortSignal,
  wait: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    let isFirst = true
    try {
      for await (const changes of ops.changes(signal)) {
        if (isFirst) await feed.connected()
        else await feed.changed(changes)
        isFirst = false
        waitMs = FIRST_WAIT_MS
      }
    } catch (error) {
      if (signal.aborted) return
      if (isClientError(error) && !error.isTransient) throw error
    }
    if (signal.aborted) return
    feed.lost()
    await wait(waitMs, signal)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

/** Resolves after a time, or at once when the signal is aborted. Its listener is then removed from the signal. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
