/**
 * How many operations of a run begin in one turn of the event loop. Code that calls ten thousand of them at once would
 * otherwise hold the loop, and with it the lease and every other task of the process, until the last one has begun.
 *
 * P1  Operations begin in the order in which the code called them.
 * P2  No result is handed out while an operation waits to begin: what was called in one reaction to a result is known
 *     before the next result, in a live run as in a rebuilt one.
 */
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
