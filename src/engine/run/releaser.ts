/**
 * Hands results to a run one at a time, in the order of their records, and lets the run's code react (all microtasks)
 * before the next one. Live and rebuilt runs go through here alike: that is why concurrent branches replay to the
 * same interleaving.
 *
 * While held (a pause is under way) results wait: the code behind them does not move. Results of operations inside a
 * running step are still handed out, or the step could not finish; once shut (the pause committed) nothing is.
 */
export interface Releaser {
  /** Queues a result; `seq` is its record. `nested`: it is for code inside a running step. */
  push(seq: number, release: () => void, nested?: boolean): void
  /** Hands out at once, when nothing else can be waiting. */
  now(release: () => void): void
  hold(): void
  shut(): void
  open(): void
  /** Results that wait to be handed out. */
  readonly size: () => number
}

interface Waiting {
  readonly seq: number
  readonly release: () => void
  readonly nested: boolean
}

/** @param ran called after the run's code reacted, with how long that took, to notice code that blocks the loop */
export function createReleaser(now: () => number, ran: (ms: number) => void): Releaser {
  let queue: Waiting[] = []
  let held = false
  let isShut = false
  let scheduled = false
  let startedAt: number | undefined

  /** Two macrotasks side by side: what runs between them is the microtasks of the release, and nobody else's. */
  function schedule(): void {
    if (scheduled || !queue.some(mayGo)) return
    scheduled = true
    setImmediate(next)
    setImmediate(reacted)
  }

  const mayGo = ({ nested }: Waiting): boolean => !isShut && (!held || nested)

  function next(): void {
    const first = queue
      .filter(mayGo)
      .reduce<Waiting | undefined>((a, b) => (a !== undefined && a.seq < b.seq ? a : b), undefined)
    if (first === undefined) return
    queue = queue.filter((waiting) => waiting !== first)
    startedAt = now()
    first.release()
  }

  function reacted(): void {
    scheduled = false
    if (startedAt !== undefined) ran(now() - startedAt)
    startedAt = undefined
    schedule()
  }

  return {
    push(seq, release, nested = false) {
      queue.push({ seq, release, nested })
      schedule()
    },
    now(release) {
      scheduled = true
      startedAt = now()
      release()
      // After all microtasks, and before anything else the process has to do.
      process.nextTick(reacted)
    },
    hold() {
      held = true
    },
    shut() {
      isShut = true
    },
    open() {
      held = isShut = false
      schedule()
    },
    size: () => queue.length,
  }
}
