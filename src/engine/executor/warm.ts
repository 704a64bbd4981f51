/**
 * Keeps runs in memory while their task is stopped or waits for children. A task that is woken soon
 * continues with that run. After `warmForMs`, or when memory is short, the run is evicted, and
 * later rebuilt from its journal. Authors see no difference. When memory is short, the tenants with
 * the most runs in memory lose theirs first.
 */
import type { Clock } from '../../ports/clock.ts'
import type { MemoryUsage } from '../../ports/memory.ts'

export interface Warm {
  add(frame: { readonly taskId: string; readonly tenant: string }): void
  remove(taskId: string): void
  readonly size: () => number
  close(): void
}

export interface WarmOptions {
  readonly warmForMs: number
  readonly memoryLimitBytes: number
}

/** How often memory is checked while any run is kept. */
const CHECK_MS = 1_000

interface Frame {
  readonly tenant: string
  readonly since: number
}

export function createWarm(
  clock: Clock,
  memory: MemoryUsage,
  { warmForMs, memoryLimitBytes }: WarmOptions,
  evict: (taskId: string) => void,
): Warm {
  /** The kept runs, oldest first. */
  const frames = new Map<string, Frame>()
  let cancel: (() => void) | undefined

  function arm(): void {
    const oldest = frames.values().next()
    if (cancel !== undefined || oldest.done) return
    const left = oldest.value.since + warmForMs - clock.now()
    cancel = clock.after(Math.max(0, Math.min(left, CHECK_MS)), sweep)
  }

  function sweep(): void {
    cancel = undefined
    const before = clock.now() - warmForMs
    const half = Math.ceil(frames.size / 2)
    const over: string[] = []
    for (const [taskId, { since }] of frames) {
      if (since > before) break
      over.push(taskId)
    }
    drop(over)
    if (memory.usedBytes() > memoryLimitBytes) drop(firstToGo(frames, half - over.length))
    arm()
  }

  function drop(taskIds: readonly string[]): void {
    for (const taskId of taskIds) {
      frames.delete(taskId)
      evict(taskId)
    }
  }

  return {
    add({ taskId, tenant }) {
      frames.delete(taskId)
      frames.set(taskId, { tenant, since: clock.now() })
      if (warmForMs <= 0) sweep()
      else arm()
    },
    remove: (taskId) => {
      frames.delete(taskId)
    },
    size: () => frames.size,
    close() {
      cancel?.()
      cancel = undefined
    },
  }
}

/**
 * Chooses the runs to evict: those of tenants with the most, oldest first, until the tenants have
 * equally many.
 */
function firstToGo(frames: ReadonlyMap<string, Frame>, count: number): readonly string[] {
  const newer = new Map<string, number>()
  const ranked = [...frames].reverse().map(([taskId, { tenant }]) => {
    const rank = newer.get(tenant) ?? 0
    newer.set(tenant, rank + 1)
    return { taskId, rank }
  })
  const sorted = ranked.reverse().sort((a, b) => b.rank - a.rank)
  return sorted.slice(0, Math.max(0, count)).map(({ taskId }) => taskId)
}
