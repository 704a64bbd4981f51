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
import type { RunCore } from './run-core.ts'

/** A run that waited for so long did not end its process with what it did before (W4). */
const CALM_MS = 60_000

export class RunSlot {
  readonly #core: RunCore
  #held = true
  #taking: Promise<void> | undefined
  #stopWaiting: () => void = nothing

  constructor(core: RunCore) {
    this.#core = core
  }

  get held(): boolean {
    return this.#held
  }

  giveBack(): void {
    const { host, task } = this.#core
    if (!this.#held || !host.releaseSlot(task.id)) return
    this.#held = false
    if (task.deaths === 0) return
    this.#stopWaiting = host.clock.after(CALM_MS, () => this.#forgetDeaths())
  }

  /** Whether the run has a slot. Asks for one if it has none. */
  ask(): boolean {
    void this.take()
    return this.#held
  }

  /**
   * Resolves when the run has a slot, or was stopped. Undefined: it has one. A stopped run gets its slot with its next
   * token.
   */
  take(): Promise<void> | undefined {
    if (this.#held) return undefined
    const { host, taskId } = this.#core
    this.#taking ??= host.reacquireSlot(taskId).then(() => {
      this.#taking = undefined
      this.grant()
    })
    return this.#taking
  }

  /** The run has a slot: it was asked for, or came with a new token. */
  grant(): void {
    if (this.#held) return
    this.#held = true
    this.#stopWaiting()
    if (this.#core.dead) return
    this.#core.releaser.review()
    this.#core.gate.review()
  }

  /** The run is over. */
  close(): void {
    this.#stopWaiting()
  }

  /** Written after a takeover alone. If it cannot be written, one death too many is counted (W4). */
  #forgetDeaths(): void {
    const { host, taskId, token } = this.#core
    host
      .commit(taskId, () => ({ type: 'wait', run: token }))
      .catch((error: unknown) => {
        if (!this.#core.dead) host.log('warn', 'a wait could not be recorded', { taskId, error })
      })
  }
}

function nothing(): void {}
