/**
 * Hands results to a run one at a time, in the order of their records, and lets the run's code react (all microtasks)
 * before the next one. Live and rebuilt runs go through here alike: that is why concurrent branches replay to the
 * same interleaving.
 *
 * While held (a pause is under way or committed) results wait: the code behind them does not move.
 */
export interface Releaser {
  /** Queues a result; `seq` is its record. */
  push(seq: number, release: () => void): void
  hold(): void
  open(): void
  /** Results that wait to be handed out. */
  readonly size: () => number
}

interface Waiting {
  readonly seq: number
  readonly release: () => void
}

/** @param ran called after the run's code reacted, with how long that took, to notice code that blocks the loop */
export function createReleaser(now: () => number, ran: (ms: number) => void): Releaser {
  let queue: Waiting[] = []
  let held = false
  let scheduled = false
  let startedAt: number | undefined

  /** Two macrotasks side by side: what runs between them is the microtasks of the release, and nobody else's. */
  function schedule(): void {
    if (scheduled || held || queue.length === 0) return
    scheduled = true
    setImmediate(next)
    setImmediate(reacted)
  }

  function next(): void {
    if (held) return
    const first = queue.reduce((a, b) => (b.seq < a.seq ? b : a))
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
    push(seq, release) {
      queue.push({ seq, release })
      schedule()
    },
    hold() {
      held = true
    },
    open() {
      held = false
      schedule()
    },
    size: () => queue.length,
  }
}
