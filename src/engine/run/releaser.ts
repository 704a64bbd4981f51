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
 *
 * `Pace` limits how many operations begin in one turn of the event loop. Code that calls ten thousand of them at once would
 * otherwise hold the loop, and with it the lease and every other task of the process, until the last one has begun.
 *
 * P1  Operations begin in the order in which the code called them.
 * P2  No result is handed out while an operation waits to begin: what was called in one reaction to a result is known
 *     before the next result, in a live run as in a rebuilt one.
 */

import { Heap } from '../../core/values/heap.ts'

export class Releaser {
  readonly #now: () => number
  readonly #code: Code
  readonly #pace: Pick<Pace, 'waiting'>
  readonly #mayGoOn: () => boolean
  readonly #outer: Heap<Waiting> = new Heap(isEarlier)
  /** Results of operations inside a running step. */
  readonly #nested: Heap<Waiting> = new Heap(isEarlier)
  #pushed = 0
  #held = false
  #shut = false
  #without = 0
  #scheduled = false
  #startedAt: number | undefined
  #tookMs: number | undefined

  /**
   * @param pace the operations that the code has called and that wait to begin (P2); `review` is called when none do
   * @param mayGoOn whether the run has a slot; `review` is called when it has one again
   */
  constructor(now: () => number, code: Code, pace: Pick<Pace, 'waiting'>, mayGoOn: () => boolean) {
    this.#now = now
    this.#code = code
    this.#pace = pace
    this.#mayGoOn = mayGoOn
  }

  /** Results that wait to be handed out. */
  get size(): number {
    return this.#outer.size + this.#nested.size
  }

  /** Whether a result can be handed out, or will be by itself when what it waits for is done. */
  get ready(): boolean {
    return this.#first() !== undefined
  }

  /** Whether the code is reacting to a result: it may still read values and call operations. */
  get reacting(): boolean {
    return this.#startedAt !== undefined || this.#tookMs !== undefined
  }

  /** Queues a result; `seq` is its record. */
  push(seq: number, release: () => void, { nested = false, after }: Handing = {}): void {
    const waiting: Waiting = { seq, nth: this.#pushed++, release, isDue: after === undefined }
    const queue = nested ? this.#nested : this.#outer
    queue.add(waiting)
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
    this.#code.begins()
    release()
    this.#code.ends()
    this.#code.reacted(this.#now() - startedAt)
  }

  /** Hands out nothing until `work` settles. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    this.#without++
    try {
      return await work()
    } finally {
      this.#without--
      this.#schedule()
    }
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
    if (this.#scheduled || this.#pace.waiting > 0) return
    if (!this.#first()?.isDue || !this.#mayGoOn()) return
    this.#scheduled = true
    setImmediate(next, this)
    setImmediate(reacted, this)
  }

  /** The queue with the first result that may be handed out. */
  #next(): Heap<Waiting> | undefined {
    if (this.#shut || this.#without > 0) return undefined
    const outer = this.#held ? undefined : this.#outer.first
    const nested = this.#nested.first
    if (nested === undefined) return outer && this.#outer
    return outer === undefined || isEarlier(nested, outer) ? this.#nested : this.#outer
  }

  #first(): Waiting | undefined {
    return this.#next()?.first
  }

  next(): void {
    const queue = this.#pace.waiting > 0 ? undefined : this.#next()
    const first = queue?.first
    if (!first?.isDue) return
    queue?.takeFirst()
    this.#startedAt = this.#now()
    this.#code.begins()
    first.release()
  }

  reacted(): void {
    if (this.#startedAt !== undefined) {
      this.#tookMs = this.#now() - this.#startedAt
      this.#code.ends()
    }
    this.#startedAt = undefined
    // The operations that the code called are part of the reaction.
    if (this.#pace.waiting > 0) {
      setImmediate(reacted, this)
      return
    }
    const tookMs = this.#tookMs
    this.#tookMs = undefined
    this.#scheduled = false
    if (tookMs !== undefined) this.#code.reacted(tookMs)
    this.#schedule()
  }
}

interface Handing {
  /** The result is for code inside a running step. */
  readonly nested?: boolean
  /** The result is handed out when this has settled. */
  readonly after?: Promise<void> | undefined
}

/** Told about the code that reacts to results. */
export interface Code {
  /** It takes the event loop. */
  begins(): void
  /** It gives the event loop back. */
  ends(): void
  /** It has reacted to a result, which took so long. */
  reacted(ms: number): void
}

interface Waiting {
  readonly seq: number
  /** Of results with the same record, the last one is the first. */
  readonly nth: number
  readonly release: () => void
  /** Nothing is waited for any more. */
  isDue: boolean
}

function isEarlier(one: Waiting, other: Waiting): boolean {
  return one.seq < other.seq || (one.seq === other.seq && one.nth > other.nth)
}

function next(releaser: Releaser): void {
  releaser.next()
}

function reacted(releaser: Releaser): void {
  releaser.reacted()
}

/** How many operations begin in one turn of the event loop. */
const PER_TURN = 64

/** Operations that begin in the same turn. */
interface Turn {
  readonly promise: Promise<void>
  readonly begin: () => void
  size: number
}

export class Pace {
  readonly #drained: () => void
  /** How many operations have begun in this turn. */
  #begun = 0
  /** How many operations wait to begin. */
  #waiting = 0
  #turns: Turn[] = []

  /** @param drained no operation waits any more */
  constructor(drained: () => void) {
    this.#drained = drained
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Begins at once, or in a coming turn. */
  pass<T>(begin: () => Promise<T>): Promise<T> {
    const turn = this.next()
    return turn === undefined ? begin() : turn.then(begin)
  }

  /** Resolves when the next operation may begin. Undefined: at once. */
  next(): Promise<void> | undefined {
    if (this.#begun < PER_TURN) {
      this.#begun++
      return undefined
    }
    this.#waiting++
    let turn = this.#turns.at(-1)
    if (turn === undefined) setImmediate(nextTurn, this)
    if (turn === undefined || turn.size === PER_TURN) {
      turn = createTurn()
      this.#turns.push(turn)
    }
    turn.size++
    return turn.promise
  }

  nextTurn(): void {
    const { size = 0, begin } = this.#turns.shift() ?? {}
    this.#begun = size
    this.#waiting -= size
    begin?.()
    if (this.#turns.length > 0) setImmediate(nextTurn, this)
    else this.#drained()
  }

  /** The run is over: what waits never begins. */
  close(): void {
    this.#turns = []
    this.#waiting = 0
  }
}

function createTurn(): Turn {
  let begin: () => void = () => undefined
  const promise = new Promise<void>((resolve) => {
    begin = resolve
  })
  return { promise, begin, size: 0 }
}

function nextTurn(pace: Pace): void {
  pace.nextTurn()
}
