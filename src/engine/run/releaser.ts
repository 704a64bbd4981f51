/**
 * Hands results to a run one at a time, in the order of their records, and lets the run's code react (all microtasks)
 * before the next one. Live and rebuilt runs both use it, so concurrent branches replay in the same interleaving.
 *
 * A result may have to wait for a follow-up, for example a check of budgets. It has its place in the order meanwhile, and
 * later results wait behind it.
 *
 * While held (a pause is in progress) results wait, and the code that awaits them does not continue. Results of
 * operations inside a running step are still handed out, because the step could not finish otherwise. Once shut (the
 * pause is committed) no result is handed out.
 */
export class Releaser {
  readonly #now: () => number
  readonly #ran: (ms: number) => void
  readonly #mayGoOn: () => boolean
  #queue: Waiting[] = []
  #held = false
  #shut = false
  #scheduled = false
  #startedAt: number | undefined

  /**
   * @param ran called after the run's code reacted, with how long that took, to notice code that blocks the loop
   * @param mayGoOn whether the run has a slot; `review` is called when it has one again
   */
  constructor(now: () => number, ran: (ms: number) => void, mayGoOn: () => boolean) {
    this.#now = now
    this.#ran = ran
    this.#mayGoOn = mayGoOn
  }

  /** Results that wait to be handed out. */
  get size(): number {
    return this.#queue.length
  }

  /** Whether a result can be handed out, or will be by itself when what it waits for is done. */
  get ready(): boolean {
    return this.#first() !== undefined
  }

  /** Queues a result; `seq` is its record. */
  push(seq: number, release: () => void, { nested = false, after }: Handing = {}): void {
    const waiting: Waiting = { seq, release, nested, isDue: after === undefined }
    this.#queue.push(waiting)
    const due = (): void => {
      waiting.isDue = true
      this.#schedule()
    }
    after?.then(due, due)
    this.#schedule()
  }

  /** Hands out at once. Only for callers where no other result can wait or arrive before the code has reacted. */
  now(release: () => void): void {
    const startedAt = this.#now()
    release()
    this.#ran(this.#now() - startedAt)
  }

  hold(): void {
    this.#held = true
  }

  shut(): void {
    this.#shut = true
  }

  open(): void {
    this.#held = this.#shut = false
    this.#schedule()
  }

  /** Hands out the results that can be handed out now. */
  review(): void {
    this.#schedule()
  }

  /** Two adjacent macrotasks: only the microtasks of the release run between them. */
  #schedule(): void {
    if (this.#scheduled || !this.#first()?.isDue || !this.#mayGoOn()) return
    this.#scheduled = true
    setImmediate(next, this)
    setImmediate(reacted, this)
  }

  #first(): Waiting | undefined {
    let first: Waiting | undefined
    if (this.#shut) return first
    for (const waiting of this.#queue) {
      if (this.#held && !waiting.nested) continue
      if (first === undefined || waiting.seq <= first.seq) first = waiting
    }
    return first
  }

  next(): void {
    const first = this.#first()
    if (!first?.isDue) return
    this.#startedAt = this.#now()
    this.#queue = this.#queue.filter((waiting) => waiting !== first)
    first.release()
  }

  reacted(): void {
    const startedAt = this.#startedAt
    this.#scheduled = false
    this.#startedAt = undefined
    if (startedAt !== undefined) this.#ran(this.#now() - startedAt)
    this.#schedule()
  }
}

interface Handing {
  /** The result is for code inside a running step. */
  readonly nested?: boolean
  /** The result is handed out when this has settled. */
  readonly after?: Promise<void> | undefined
}

interface Waiting {
  readonly seq: number
  readonly release: () => void
  readonly nested: boolean
  /** Nothing is waited for any more. */
  isDue: boolean
}

function next(releaser: Releaser): void {
  releaser.next()
}

function reacted(releaser: Releaser): void {
  releaser.reacted()
}
