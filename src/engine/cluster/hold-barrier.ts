/**
 * Makes a hold complete before it is answered (C8). A hold is in the log of every task in its scope. A process that runs
 * such a task may not have read that yet. So the hold is answered after every process has read the tasks that it runs.
 *
 *   placing process   marks the tasks ─▶ next epoch ─▶ waits ───────────────────────▶ answers
 *   other processes                          └─▶ read the tasks they run ─▶ note the epoch in their lease
 *
 * The same epoch makes budgets and rules known: a process reads them again before it notes the epoch.
 *
 * A process that does not answer is waited for as long as a lease lasts. After that it starts no step before it has read
 * the tasks: its lease has run out (C3), or a heartbeat that it sent since has told it the epoch, and its steps wait.
 */
import type { ClusterStore, Worker } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { Membership } from './membership.ts'

export interface HoldBarrier {
  /** The epoch up to which this process has read the tasks it runs. Other processes find it in the note of its lease. */
  readonly reached: () => number
  /** Whether that is the newest epoch it has heard of. No step starts while it is not. */
  readonly isReached: () => boolean
  /** Resolves when the newest epoch is reached. */
  whenReached(): Promise<void>
  /** The holds have this epoch. */
  hear(epoch: number): void
  /** The store may have lost epochs, and gives them again. */
  forget(): void
  /** Another process has noted an epoch. */
  noted(): void
  /** Resolves when no process starts an operation of a task that is held when this is called. */
  passed(): Promise<void>
}

type Context = Pick<EngineContext, 'runs' | 'ledger' | 'clock' | 'log' | 'options'>

const LOOK_AGAIN_MS = 100
/** No epoch of a store: the first one has not been read either. */
const NONE = -1

/** @param context its parts are read only after the engine is assembled */
export function createHoldBarrier(
  context: Context,
  refreshPolicies: () => Promise<void>,
  cluster: Pick<ClusterStore, 'nextHoldEpoch' | 'versions' | 'workers' | 'report'>,
  membership: Pick<Membership, 'worker' | 'renew'>,
): HoldBarrier {
  let reached = 0
  let heard = 0
  let isReading = false
  let forgotten = 0
  let waiting: (() => void)[] = []
  const isReached = (): boolean => reached >= heard
  const notes = createNotes(context.clock)

  function hear(epoch: number): void {
    heard = Math.max(heard, epoch)
    if (isReading || isReached()) return
    isReading = true
    read()
      .catch((error: unknown) =>
        // The next heartbeat tells the epoch again.
        context.log('warn', 'held tasks could not be read; trying again', { error }),
      )
      .finally(() => {
        isReading = false
      })
  }

  async function read(): Promise<void> {
    while (!isReached()) {
      const [epoch, times] = [heard, forgotten]
      await refreshPolicies()
      // A commit that starts a run may be written and not answered yet. Its task is not among those that run here.
      await context.ledger.commitsSettled()
      await readRuns(context, cluster)
      if (times < forgotten) continue
      reached = epoch
      letGo()
      await membership.renew()
      cluster.report({ noted: true })
    }
  }

  /** Code that waits goes on. */
  function letGo(): void {
    if (!isReached()) return
    const resumed = waiting
    waiting = []
    for (const go of resumed) go()
  }

  return {
    reached: () => reached,
    isReached,
    whenReached: () =>
      isReached() ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    hear,
    forget() {
      forgotten++
      reached = heard = NONE
      letGo()
    },
    noted: notes.add,
    passed: () => passed(context, cluster, membership, notes),
  }
}

async function passed(
  { clock, log, options }: Context,
  cluster: Pick<ClusterStore, 'nextHoldEpoch' | 'workers' | 'report'>,
  membership: Pick<Membership, 'worker'>,
  notes: Notes,
): Promise<void> {
  const epoch = await cluster.nextHoldEpoch()
  const isBehind = ({ id, alive, note }: Worker): boolean =>
    alive && id !== membership.worker() && holdEpochIn(note) < epoch
  cluster.report({ holdEpoch: epoch })
  const until = clock.elapsed() + options.leaseMs
  for (;;) {
    const before = notes.count()
    const behind = (await cluster.workers()).filter(isBehind)
    if (behind.length === 0) return
    if (clock.elapsed() > until) {
      const workers = behind.map(({ id }) => id)
      log('warn', 'these processes start no step until they have read a hold', { workers })
      return
    }
    // A note that came while the processes were read is not waited for.
    if (notes.count() === before) await notes.next()
  }
}

interface Notes {
  readonly count: () => number
  add(): void
  /** Resolves with the next note, or after a while. */
  next(): Promise<void>
}

/** The notes of other processes. One may be lost on its way, so the wait for it ends after a while. */
function createNotes(clock: Context['clock']): Notes {
  const waiting = new Set<() => void>()
  let count = 0
  return {
    count: () => count,
    add(): void {
      count++
      for (const go of waiting) go()
    },
    next: (): Promise<void> =>
      new Promise((resolve) => {
        const go = (): void => {
          cancel()
          waiting.delete(go)
          resolve()
        }
        const cancel = clock.after(LOOK_AGAIN_MS, go)
        waiting.add(go)
      }),
  }
}

async function readRuns(
  { runs, ledger }: Pick<Context, 'runs' | 'ledger'>,
  { versions }: Pick<ClusterStore, 'versions'>,
): Promise<void> {
  const taskIds = runs.taskIds()
  if (taskIds.length === 0) return
  const stored = await versions(taskIds)
  await Promise.all(taskIds.map((id, index) => ledger.reach(id, stored[index] ?? 0)))
}

function holdEpochIn(note: Worker['note']): number {
  const epoch =
    typeof note === 'object' && note !== null && 'holdEpoch' in note ? note['holdEpoch'] : 0
  return typeof epoch === 'number' ? epoch : 0
}
