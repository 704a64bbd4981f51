/**
 * The other processes on a shared store: learns what they change, and takes over when they are
 * gone.
 */
import type { ClusterStore, Worker } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import { blockedTaskOf } from '../executor/takeover.ts'
import type { Holds } from '../holds/holds.ts'
import type { Budgets } from '../policies/budgets.ts'
import type { Policies } from '../policies/policies.ts'
import type { LiveTexts } from '../streams/live-texts.ts'
import { createSharedTexts, type SharedTexts } from '../streams/shared-texts.ts'
import { followUpWork } from '../upkeep/follow-up-work.ts'
import type { Timers } from '../wakes/timers.ts'
import { createCaretaking } from './caretaking.ts'
import { createFollowing } from './following.ts'
import { createHoldBarrier, type HoldBarrier } from './hold-barrier.ts'
import type { Membership } from './membership.ts'
import { createVersionCheck } from './version-check.ts'

export interface Peers {
  readonly texts: SharedTexts
  readonly barrier: HoldBarrier
  start(): void
  stop(): void
}

export interface PeersDeps {
  readonly cluster: ClusterStore
  readonly membership: Membership
  readonly live: LiveTexts
}

interface PeersParts {
  readonly context: EngineContext
  readonly holds: Holds
  readonly policies: Pick<Policies, 'refresh'>
  readonly budgets: Pick<Budgets, 'resumeRest'>
  readonly timers: Timers
}

/** @param parts read only after the engine is assembled */
export function createPeers(parts: PeersParts, { cluster, membership, live }: PeersDeps): Peers {
  const { context } = parts
  const refreshPolicies = (): Promise<void> => parts.policies.refresh()
  const texts = createSharedTexts(context, { cluster, live, worker: membership.worker })
  const versionOf = createVersionCheck(cluster, context.places)
  const barrier = createHoldBarrier(context, refreshPolicies, cluster, versionOf, membership)
  let stop = (): void => undefined

  function start(): void {
    const { timers } = parts
    const { restart } = membership
    const shared = { ...context, ...context.options, cluster }
    const following = createFollowing({ ...shared, versionOf, timers, texts, barrier, restart })
    const caretaking = createCaretaking({ ...shared, membership, finish, isNeeded })
    following.start()
    caretaking.start()
    stop = () => {
      following.stop()
      caretaking.stop()
      texts.stop()
    }
  }

  async function finish({ note }: Worker): Promise<void> {
    const { holds, budgets } = parts
    await holds.start()
    await context.followUps.repeat(doneUntilIn(note), followUpWork(context))
    // Comes last, because a budget may cover very many tasks.
    await budgets.resumeRest()
  }

  /**
   * The row names the task that blocked the process. It is needed until that task is taken over,
   * which counts the death (C11).
   */
  async function isNeeded(worker: Worker): Promise<boolean> {
    const taskId = blockedTaskOf(worker)
    const task = taskId === undefined ? undefined : await context.ledger.read(taskId)
    return task?.run?.worker === worker.id
  }

  return { texts, barrier, start, stop: () => stop() }
}

/**
 * The instant up to which the worker has done its follow-up work. 0 for a worker that never sent a
 * note.
 */
function doneUntilIn(note: Worker['note']): number {
  const until =
    typeof note === 'object' && note !== null && 'doneUntil' in note ? note['doneUntil'] : 0
  return typeof until === 'number' ? until : 0
}
