/**
 * Keeps runs in memory while their task is stopped or waits for children (`createWarm`). A task that is woken soon
 * continues with that run. After `warmForMs`, or when memory is short, the run is evicted, and later rebuilt from its
 * journal. Authors see no difference. When memory is short, the tenants with the most runs in memory lose theirs first.
 *
 * A run that only waits for children also gives up its slot (`createWaitingParents`). When a child ends, the run gets a
 * slot again, and is rebuilt if it was evicted. Meanwhile the task keeps its run token and stays `working`.
 */

import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { MemoryUsage } from '../../ports/memory.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { isChildOf, readableChildren } from '../requests/child-of.ts'
import type { Subscriptions } from '../streams/subscriptions.ts'
import type { Builder } from './building.ts'
import type { Presence, Presences } from './presence.ts'
import type { Slots } from './slots.ts'

export interface Warm {
  add(run: { readonly taskId: string; readonly tenant: string }): void
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

interface KeptRun {
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
  const kept = new Map<string, KeptRun>()
  let cancel: (() => void) | undefined

  function arm(): void {
    const oldest = kept.values().next()
    if (cancel !== undefined || oldest.done) return
    const left = oldest.value.since + warmForMs - clock.now()
    cancel = clock.after(Math.max(0, Math.min(left, CHECK_MS)), sweep)
  }

  function sweep(): void {
    cancel = undefined
    const before = clock.now() - warmForMs
    const half = Math.ceil(kept.size / 2)
    const over: string[] = []
    for (const [taskId, { since }] of kept) {
      if (since > before) break
      over.push(taskId)
    }
    drop(over)
    if (memory.usedBytes() > memoryLimitBytes) drop(firstToGo(kept, half - over.length))
    arm()
  }

  function drop(taskIds: readonly string[]): void {
    for (const taskId of taskIds) {
      kept.delete(taskId)
      evict(taskId)
    }
  }

  return {
    add({ taskId, tenant }) {
      kept.delete(taskId)
      kept.set(taskId, { tenant, since: clock.now() })
      if (warmForMs <= 0) sweep()
      else arm()
    },
    remove: (taskId) => {
      kept.delete(taskId)
    },
    size: () => kept.size,
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
function firstToGo(kept: ReadonlyMap<string, KeptRun>, count: number): readonly string[] {
  const newer = new Map<string, number>()
  const ranked = [...kept].reverse().map(([taskId, { tenant }]) => {
    const rank = newer.get(tenant) ?? 0
    newer.set(tenant, rank + 1)
    return { taskId, rank }
  })
  const sorted = ranked.reverse().sort((a, b) => b.rank - a.rank)
  return sorted.slice(0, Math.max(0, count)).map(({ taskId }) => taskId)
}

export interface WaitingParents {
  /** Frees the slot of a run that only waits for children. False: it keeps its slot. */
  releaseSlot(taskId: string): boolean
  /** For a run in memory that can continue. Resolves when it has a slot again, or was stopped. */
  reacquireSlot(taskId: string): Promise<void>
  /** Rebuilds a parent that is not in memory when a child has ended. */
  childEnded(child: Pick<Task, 'id' | 'tenant' | 'parentId'>): void
  /** Drops the run of a task that waits or is stopped from memory. */
  evict(taskId: string): void
}

interface WaitingParentsDeps {
  readonly ledger: Pick<Ledger, 'read'>
  readonly log: Log
  /** Present in a shared store, where a child may run in another process. */
  readonly watchTask?: Subscriptions['watch'] | undefined
  readonly slots: Slots
  readonly presences: Presences
  readonly builder: Builder
  readonly draining: () => boolean
}

export function createWaitingParents(deps: WaitingParentsDeps): WaitingParents {
  const { ledger, log, watchTask, slots, presences, builder, draining } = deps

  function releaseSlot(taskId: string): boolean {
    const presence = presences.get(taskId)
    return presence !== undefined && !draining() && presences.move(presence, 'wait')
  }

  async function reacquireSlot(taskId: string): Promise<void> {
    const presence = presences.get(taskId)
    if (presence === undefined) return
    // Another branch of the run may already wait for the slot.
    if (presence.phase === 'waiting') presences.move(presence, 'child-ended')
    if (presence.phase === 'rejoining') await slotFor(presence)
  }

  /**
   * Waits for the slot. Of several callers the first makes the move; none does if the task was
   * stopped.
   */
  async function slotFor(presence: Presence): Promise<void> {
    const { agent, tenant, token } = presence
    await slots.acquire(agent, token, tenant)
    if (presence.token === token && slots.has(token)) presences.move(presence, 'slot')
  }

  /** An imported child can name any task as its parent, so the tenant is compared. */
  function childEnded(child: Pick<Task, 'id' | 'tenant' | 'parentId'>): void {
    const { parentId } = child
    const presence = parentId === undefined ? undefined : presences.get(parentId)
    if (presence === undefined) return
    const { taskId: id, tenant } = presence
    if (isChildOf({ id, tenant }, child)) goOn(id)
  }

  function goOn(parentId: string): void {
    const presence = presences.get(parentId)
    if (presence === undefined || draining()) return
    if (presence.phase !== 'evicted' || !presences.move(presence, 'child-ended')) return
    slotFor(presence)
      .then(() => {
        if (presence.phase === 'building' && !draining()) builder.build(presence, undefined)
      })
      .catch((error: unknown) => log('error', 'a parent could not go on', { parentId, error }))
  }

  /**
   * The parent goes on when the child has ended. An unreadable child counts as ended. A child that
   * does not exist here has not been imported yet; its end will be published like that of any other.
   */
  function goOnAtEnd(parentId: string, childId: string): void {
    // Watches the child, because its end in another process is reported only to watchers.
    const stop = watchTask?.(childId, ({ state }) => {
      if (!isTerminal(state)) return
      stop?.()
      goOn(parentId)
    })
    // The child may have ended before the parent was evicted.
    hasEnded(parentId, childId).then(
      (over) => {
        if (over) goOn(parentId)
      },
      (error: unknown) => {
        const facts = { taskId: parentId, error }
        log('warn', 'a child could not be read; its parent is built again', facts)
        goOn(parentId)
      },
    )
  }

  async function hasEnded(parentId: string, childId: string): Promise<boolean> {
    const parent = await ledger.read(parentId)
    const child = parent && (await ledger.read(childId, parent.tenant))
    if (parent === undefined || child === undefined) return false
    const isReadable = await readableChildren({ ledger }, parent)
    return isReadable(child) && (isTerminal(child.state) || isUnreadable(child))
  }

  function evict(taskId: string): void {
    const presence = presences.get(taskId)
    if (presence?.phase === 'waiting' && presence.run?.mustStayInMemory) return
    const awaited = [...(presence?.run?.awaited ?? [])]
    presence?.run?.discard('evicted')
    if (presence === undefined || !presences.move(presence, 'evict')) return
    if (presence.phase !== 'evicted') return
    for (const childId of awaited) goOnAtEnd(taskId, childId)
  }

  return { releaseSlot, reacquireSlot, childEnded, evict }
}
