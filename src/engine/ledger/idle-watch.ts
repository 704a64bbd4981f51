/** Lets callers wait until no task in memory has queued commands, reads or commits. */
import type { TaskCache } from './task-cache.ts'
import { isSettled } from './task-entry.ts'

export interface IdleWatch {
  /** Resolves when every entry is settled: no command, read or commit is in progress. */
  idle(): Promise<void>
  /** Called when an entry may have become settled. */
  readonly check: () => void
}

export function createIdleWatch(cache: Pick<TaskCache, 'entries'>): IdleWatch {
  let waiting: (() => void)[] = []

  function isIdle(): boolean {
    for (const entry of cache.entries()) if (!isSettled(entry)) return false
    return true
  }

  return {
    idle: () =>
      isIdle() ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
    check() {
      if (waiting.length === 0 || !isIdle()) return
      const resolved = waiting
      waiting = []
      for (const resolve of resolved) resolve()
    },
  }
}
