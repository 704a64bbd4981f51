/**
 * The slot of a run: the permission to run code, of which each agent has a limited number.
 *
 * W1  A run gives its slot back when a call waits for a child and nothing else can go on by itself: every operation in
 *     flight is a step with such a call inside it, no record is being written, no retry is due, no result can be handed out.
 * W2  Without a slot no operation starts and no result is handed out. An operation that can go on asks for a slot first.
 * W3  A run whose call is inside a step, or watches, stays in memory: its frame could not be rebuilt at that place.
 * W4  Deaths of processes are forgotten when a run was without a slot for a minute. What it did before did not end its
 *     process. A shorter wait says nothing: the code may end the process with the record that it waited for.
 */
export interface SlotHost {
  /** Returns false when the run has to keep its slot. */
  release(): boolean
  /** Resolves when the run has a slot again, or was stopped. A stopped run gets its slot with its next token. */
  reacquire(): Promise<void>
  /** The run has a slot again. */
  taken(): void
}

export class RunSlot {
  readonly #host: SlotHost
  #held = true
  #taking: Promise<void> | undefined

  constructor(host: SlotHost) {
    this.#host = host
  }

  get held(): boolean {
    return this.#held
  }

  giveBack(): void {
    if (this.#held && this.#host.release()) this.#held = false
  }

  /** Whether the run has a slot. Asks for one if it has none. */
  ask(): boolean {
    void this.take()
    return this.#held
  }

  /** Resolves when the run has a slot. Undefined: it has one. */
  take(): Promise<void> | undefined {
    if (this.#held) return undefined
    this.#taking ??= this.#host.reacquire().then(() => {
      this.#taking = undefined
      this.grant()
    })
    return this.#taking
  }

  /** The run has a slot: it was asked for, or came with a new token. */
  grant(): void {
    if (this.#held) return
    this.#held = true
    this.#host.taken()
  }
}
