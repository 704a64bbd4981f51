/**
 * Makes sure that a hold is in effect in every process before its request is answered (C8 of
 * `membership.ts`). A hold is written to the log of every task in its scope, but a process that
 * runs such a task may not have read that record yet. So the request is answered only after every
 * process has read the tasks that it runs.
 *
 *   placing process   marks the tasks ─▶ next epoch ─▶ waits ───────────────────────▶ answers
 *   other processes                          └─▶ read the tasks they run ─▶ note the epoch in their lease
 *
 * The same epoch announces changes of budgets and rules: a process reads them again before it notes
 * the epoch.
 *
 * If a process does not note the epoch, the request waits for the duration of a lease. After that
 * the process can start no step before it has read the tasks: either its lease has run out (C3), or
 * the answer to a later heartbeat has told it the epoch, and its steps wait.
 */
import type { ClusterStore, Worker } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { Membership } from './membership.ts'
import type { VersionOf } from './version-check.ts'

export interface HoldBarrier {
  /**
   * The hold epoch up to which this process has read the tasks it runs. Other processes read it in
   * the note of its lease.
   */
  readonly reached: () => number
  /**
   * Whether this process has reached the newest epoch that it knows. While it has not, no step
   * starts.
   */
  readonly isReached: () => boolean
  /** Resolves when the newest epoch is reached. */
  whenReached(): Promise<void>
  /** Called with the current hold epoch. */
  hear(epoch: number): void
  /** Called when the store may have lost epochs, and so may use their numbers again. */
  forget(): void
  /** Called when another process has written an epoch to its note. */
  noted(): void
  /**
   * Resolves when no process will start an operation of a task that is held at the time of the
   * call.
   */
  passed(): Promise<void>
}

type Context = Pick<EngineContext, 'runs' | 'ledger' | 'clock' | 'log' | 'options'>

const LOOK_AGAIN_MS = 100
/** A number that is never an epoch of a store: not even the first one has been read. */
const NONE = -1

/** @param context its parts are read only after the engine is assembled */
export function createHoldBarrier(
  context: Context,
  refreshPolicies: () => Promise<void>,
  cluster: Pick<ClusterStore, 'nextHoldEpoch' | 'workers' | 'report'>,
  versionOf: VersionOf,
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
        // The next heartbeat reports the epoch again, which repeats the read.
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
      // A commit that starts a run may be written but not answered. Its task would be missing from
      // the list of tasks that run here.
      await context.ledger.commitsSettled()
      await readRuns(context, versionOf)
      if (times < forgotten) continue
      reached = epoch
      letGo()
      await membership.renew()
      cluster.report({ noted: true })
    }
  }

  /** Continues the code that waits for the epoch. */
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
    // A note that arrived while the workers were read may already change the result, so it is read
    // again at once.
    if (notes.count() === before) await notes.next()
  }
}

interface Notes {
  readonly count: () => number
  add(): void
  /** Resolves with the next note, or after a while, because notes may be lost. */
  next(): Promise<void>
}

/** Waits for notes of other processes. */
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
  versionOf: VersionOf,
): Promise<void> {
  await Promise.all(
    runs.taskIds().map(async (id) => {
      await ledger.reach(id, await versionOf(id))
    }),
  )
}

function holdEpochIn(note: Worker['note']): number {
  const epoch =
    typeof note === 'object' && note !== null && 'holdEpoch' in note ? note['holdEpoch'] : 0
  return typeof epoch === 'number' ? epoch : 0
}
