/**
 * A run that only waits for children needs no slot, and no frame either: it may be evicted, and a child's end brings it
 * back. The task stays ours and `working` all the while.
 */
import { isTerminal } from '../../core/states.ts'
import type { Log } from '../../ports/log.ts'
import type { Ledger } from '../ledger.ts'
import type { Builder } from './building.ts'
import type { Presence, Presences } from './presence.ts'
import type { Slots } from './slots.ts'

export interface ChildWaits {
  /** The run does nothing but wait for children: gives its slot back. */
  releaseSlot(taskId: string): void
  /** A child ended and the frame is here: resolves when the run has a slot again, or was stopped meanwhile. */
  reacquireSlot(taskId: string): Promise<void>
  /** A child ended: a parent without a frame is built again. */
  childEnded(parentId: string): void
  /** Gives up a frame that is waiting or stopped. */
  evict(taskId: string): void
}

export function createChildWaits(deps: {
  readonly ledger: Pick<Ledger, 'read'>
  readonly log: Log
  readonly slots: Slots
  readonly presences: Presences
  readonly builder: Builder
  readonly draining: () => boolean
}): ChildWaits {
  const { ledger, log, slots, presences, builder, draining } = deps

  function releaseSlot(taskId: string): void {
    const presence = presences.get(taskId)
    if (presence !== undefined && !draining()) presences.move(presence, 'wait')
  }

  async function reacquireSlot(taskId: string): Promise<void> {
    const presence = presences.get(taskId)
    if (presence === undefined) return
    // Also where another branch of the run waits for the slot already.
    if (presence.phase === 'waiting') presences.move(presence, 'child-ended')
    if (presence.phase === 'rejoining') await slotFor(presence)
  }

  /** The move happens once per stay in the queue, and not at all when the task was stopped there. */
  async function slotFor(presence: Presence): Promise<void> {
    const { agent, token } = presence
    await slots.acquire(agent, token)
    if (presence.token === token && slots.has(token)) presences.move(presence, 'slot')
  }

  function childEnded(parentId: string): void {
    const presence = presences.get(parentId)
    if (presence === undefined || draining()) return
    if (presence.phase !== 'evicted' || !presences.move(presence, 'child-ended')) return
    slotFor(presence)
      .then(() => {
        if (presence.phase === 'building' && !draining()) builder.build(presence, undefined)
      })
      .catch((error: unknown) => log('error', 'a parent could not go on', { parentId, error }))
  }

  function evict(taskId: string): void {
    const presence = presences.get(taskId)
    if (presence?.phase === 'waiting' && presence.run?.watching) return
    const awaited = [...(presence?.run?.awaited ?? [])]
    presence?.run?.discard('evicted')
    if (presence === undefined || !presences.move(presence, 'evict')) return
    if (presence.phase === 'evicted') checkAwaited(taskId, awaited)
  }

  /** A child may have ended just now, before the run took that up. A child that cannot be read counts as ended. */
  function checkAwaited(taskId: string, awaited: readonly string[]): void {
    for (const childId of awaited) {
      ledger.read(childId).then(
        (child) => {
          if (child === undefined || isTerminal(child.state)) childEnded(taskId)
        },
        (error: unknown) => {
          log('warn', 'a child could not be read; its parent is built again', { taskId, error })
          childEnded(taskId)
        },
      )
    }
  }

  return { releaseSlot, reacquireSlot, childEnded, evict }
}
