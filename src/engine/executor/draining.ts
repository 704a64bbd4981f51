/**
 * A process that shuts down gives up its tasks, so that the next process can run them. Each is
 * released at a boundary if it reaches one in time. Draining ends in a bounded time, even if the
 * store hangs. A task that was not released becomes an orphan.
 */
import type { Clock } from '../../ports/clock.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { endsWithin } from '../limits/time-limit.ts'
import type { Presence, Presences } from './presence.ts'

/** The additional time that a process which shuts down gives its last writes. */
const LAST_WRITE_MS = 1_000

export async function drainRuns(
  deps: {
    readonly ledger: Pick<Ledger, 'commit' | 'idle'>
    readonly clock: Clock
    readonly presences: Presences
  },
  timeoutMs: number,
): Promise<void> {
  const { ledger, clock, presences } = deps
  let cancel: () => void = () => undefined
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(timeoutMs, resolve)
  })
  const frames = presences.values().flatMap(({ run }) => (run === undefined ? [] : [run]))

  async function releaseAll(): Promise<void> {
    await Promise.allSettled([...frames.map((run) => run.release(late)), ...releaseWithoutFrame()])
    // Commands that start a run may have been on their way to the store when draining began.
    await ledger.idle()
    await Promise.allSettled(releaseWithoutFrame())
  }

  function releaseWithoutFrame(): Promise<unknown>[] {
    return presences
      .values()
      .filter(({ run }) => run === undefined)
      .map(release)
  }

  function release({ taskId, token }: Presence): Promise<unknown> {
    const reason = 'it was in no operation'
    return ledger.commit(taskId, { type: 'release', run: token, reason })
  }

  await endsWithin(clock, timeoutMs + LAST_WRITE_MS, releaseAll())
  cancel()
  for (const run of frames) run.discard('stopping')
  presences.clear()
}
