/**
 * Frames that are kept in memory while their task is stopped or waits for children. A task that is woken soon continues
 * from its frame. After `warmForMs`, or when memory is short, the frame is evicted; the task is rebuilt from its journal
 * later. Authors see no difference.
 */
import type { Clock } from '../../ports/clock.ts'
import type { MemoryUsage } from '../../ports/memory.ts'

export interface Warm {
  add(taskId: string): void
  remove(taskId: string): void
  readonly size: () => number
  close(): void
}

export interface WarmOptions {
  readonly warmForMs: number
  readonly memoryLimitBytes: number
}

/** How often memory is checked while any frame is kept. */
const CHECK_MS = 1_000

export function createWarm(
  clock: Clock,
  memory: MemoryUsage,
  { warmForMs, memoryLimitBytes }: WarmOptions,
  evict: (taskId: string) => void,
): Warm {
  /** The instant from which each frame is kept, oldest first. */
  const since = new Map<string, number>()
  let cancel: (() => void) | undefined

  function arm(): void {
    const oldest = since.values().next()
    if (cancel !== undefined || oldest.done) return
    const left = oldest.value + warmForMs - clock.now()
    cancel = clock.after(Math.max(0, Math.min(left, CHECK_MS)), sweep)
  }

  function sweep(): void {
    cancel = undefined
    const before = clock.now() - warmForMs
    const short = memory.usedBytes() > memoryLimitBytes
    let most = short ? Math.ceil(since.size / 2) : 0
    for (const [taskId, at] of since) {
      if (at > before && most <= 0) break
      most--
      since.delete(taskId)
      evict(taskId)
    }
    arm()
  }

  return {
    add(taskId) {
      since.delete(taskId)
      since.set(taskId, clock.now())
      if (warmForMs <= 0) sweep()
      else arm()
    },
    remove: (taskId) => {
      since.delete(taskId)
    },
    size: () => since.size,
    close() {
      cancel?.()
      cancel = undefined
    },
  }
}
