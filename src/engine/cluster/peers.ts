/** The other processes on a shared store: what they have changed, and what they have left when they are gone. */
import type { ClusterStore, Worker } from '../../ports/store/cluster.ts'
import { cancelChildren } from '../cancel-task.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds.ts'
import type { Timers } from '../timers.ts'
import { createCaretaking } from './caretaking.ts'
import { createFollowing } from './following.ts'
import type { Membership } from './membership.ts'
import type { SharedTexts } from './shared-texts.ts'

export interface Peers {
  start(): void
  stop(): void
}

export function createPeers(deps: {
  readonly cluster: ClusterStore
  readonly context: EngineContext
  readonly holds: Holds
  readonly timers: Timers
  readonly membership: Membership
  readonly texts: SharedTexts
}): Peers {
  const { cluster, context, holds, timers, membership, texts } = deps
  const { events, followUps, options } = context
  const following = createFollowing({
    ...context,
    ...options,
    cluster,
    timers,
    texts,
    restart: membership.restart,
  })
  const caretaking = createCaretaking({ ...context, ...options, cluster, membership, finish })

  async function finish({ note }: Worker): Promise<void> {
    await holds.start()
    await followUps.repeat(doneUntilIn(note), {
      stopped: events.lookBack,
      canceled: (task) => cancelChildren(context, task),
    })
  }

  return {
    start() {
      following.start()
      caretaking.start()
    },
    stop() {
      following.stop()
      texts.stop()
      caretaking.stop()
    },
  }
}

/** A worker that never sent a note may have left anything. */
function doneUntilIn(note: Worker['note']): number {
  const until =
    typeof note === 'object' && note !== null && 'doneUntil' in note ? note['doneUntil'] : 0
  return typeof until === 'number' ? until : 0
}
