/** A store that takes the process down right before or right after a chosen write became durable. */

import type { Commit } from '../../src/ports/store/tasks.ts'
import type { Store } from '../../src/ports/store.ts'

export interface Kill {
  readonly moment: 'before' | 'after'
  /** Counted from the start of the process. */
  readonly nth: number
  /** Every write, only events, or only commits that bring a task further than being taken over by a new run. */
  readonly of: 'write' | 'event' | 'progress'
}

export function killing(store: Store, kill: Kill | undefined): Store {
  if (kill === undefined) return store
  const { moment, nth, of } = kill
  let count = 0

  function strike(isOne: boolean): void {
    if (isOne && ++count === nth) die()
  }

  async function write<R>(isOne: boolean, work: () => Promise<R>): Promise<R> {
    if (moment === 'before') strike(isOne)
    const result = await work()
    if (moment === 'after') strike(isOne)
    return result
  }

  return {
    ...store,
    async commit(batch) {
      if (moment === 'before') strike(of === 'write' || (of === 'progress' && isProgress(batch)))
      const results = await store.commit(batch)
      const written = batch.filter((_, index) => results[index]?.status === 'written')
      if (moment === 'after') strike(of === 'write' || (of === 'progress' && isProgress(written)))
      return results
    },
    claim: (claim) => write(of === 'write', () => store.claim(claim)),
    appendEvents: (tenant, events, at) =>
      write(of !== 'progress', () => store.appendEvents(tenant, events, at)),
  }
}

/** Calls back after every commit that brings a task further. */
export function afterProgress(store: Store, callback: () => void): Store {
  return {
    ...store,
    async commit(batch) {
      const results = await store.commit(batch)
      if (isProgress(batch.filter((_, index) => results[index]?.status === 'written'))) callback()
      return results
    },
  }
}

/** Being handed from one run to the next is none. */
const handover: ReadonlySet<string> = new Set(['started', 'released', 'receipt'])

function isProgress(batch: readonly Commit[]): boolean {
  return batch.some(({ records }) => records.some(({ type }) => !handover.has(type)))
}

/** Nothing runs after this: no handler, no flush. */
export function die(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}
