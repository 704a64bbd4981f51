/** Releases the task of a run when its process stops: at the next boundary, or when the time is over. */
import type { RunCore } from './run-core.ts'

/** A process that stops waits this long for steps that were told to stop. It is within its wait for last writes. */
const INTERRUPTED_MS = 500

export class RunRelease {
  readonly #core: RunCore
  readonly #isOurs: () => boolean
  readonly #interrupt: () => void
  /** Set when the process stops. Ends the wait for a boundary. */
  #boundaryReached: ((reason: string) => void) | undefined
  /** Set while the release is written. */
  #released: (() => void) | undefined

  /**
   * @param isOurs whether the run has the task, and the task is working
   * @param interrupt tells the running steps to stop
   */
  constructor(core: RunCore, isOurs: () => boolean, interrupt: () => void) {
    this.#core = core
    this.#isOurs = isOurs
    this.#interrupt = interrupt
  }

  /** Whether the process stops. */
  get underWay(): boolean {
    return this.#boundaryReached !== undefined
  }

  /** @param late resolves when the process waits no longer */
  async release(late: Promise<void>): Promise<void> {
    const { releaser, gate } = this.#core
    if (this.#core.dead || !this.#isOurs()) return
    const reason = await new Promise<string>((resolve) => {
      this.#boundaryReached = resolve
      late
        .then(() => {
          // Steps are told to stop before another process can begin them.
          this.#interrupt()
          const giveUp = (): void => resolve('it reached no boundary in time')
          this.#core.host.clock.after(INTERRUPTED_MS, giveUp)
        })
        .catch(() => undefined)
      releaser.hold()
      gate.pause('finish_step')
    })
    if (this.#core.dead || !this.#isOurs()) return
    // An operation still runs, so the task is not paused yet. The next process commits the pause before it starts anything.
    if (this.#core.task.pausing !== undefined && !gate.atBoundary('finish_step')) return
    await new Promise<void>((resolve, reject) => {
      this.#released = resolve
      const inFlight = gate.inFlight > 0 ? { inFlight: true as const } : {}
      this.#core.persist({ type: 'release', reason, ...inFlight }).then(() => resolve(), reject)
    })
  }

  /** The run may have reached a boundary. */
  moved(): void {
    const { releaser, gate } = this.#core
    if (releaser.reacting || !gate.atBoundary('finish_step')) return
    this.#boundaryReached?.('it reached a boundary')
  }

  /** The task has stopped, so there is nothing to release. */
  stopped(): void {
    this.#boundaryReached?.('it stopped')
  }

  /** The run is over, so there is nothing to release, and the process need not wait for it. */
  over(): void {
    this.#released?.()
    this.#boundaryReached?.('it has ended')
  }
}
