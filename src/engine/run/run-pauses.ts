/**
 * How a run stops for a pause and goes on after it, and how it gives its task to another process.
 *
 *   open ──quiesce──▶ quiescing ──boundary──▶ closed ──open──▶ open
 *     └──────────freeze, stop of the agent──────┘
 *
 * While quiescing, the gate starts no operation that the pause forbids, and the releaser withholds results. While closed,
 * nothing starts and no result is handed out.
 */

import type { PauseMode } from '../../core/suspension.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import type { RunCore } from './run-core.ts'

/** A process that stops waits this long for steps that were told to stop. It is within its wait for last writes. */
const INTERRUPTED_MS = 500

/** A class: one instance per run is cheaper than one closure per method and run. */
export class RunPauses {
  readonly #core: RunCore
  #committing = false

  constructor(core: RunCore) {
    this.#core = core
  }

  quiesce(mode: PauseMode): void {
    const { releaser, gate } = this.#core
    if (mode !== 'wait_for_completion') releaser.hold()
    if (mode === 'interrupt_immediate') this.#core.run.interrupt('paused')
    gate.pause(mode)
  }

  close(): void {
    this.#core.releaser.shut()
    this.#core.gate.close()
  }

  /** @param mode the mode of a pause that is still under way */
  open(mode?: PauseMode): void {
    const { releaser, gate } = this.#core
    releaser.open()
    if (mode !== undefined && mode !== 'wait_for_completion') releaser.hold()
    gate.reopen(mode)
  }

  /** Returns whether a pause could commit now. If so, the run is closed until its records are followed, or until `thaw`. */
  freeze(mode: PauseMode): boolean {
    if (!this.#core.isOurs) return true
    // A record that the ledger has not decided yet would be written after the pause.
    if (this.#core.unwritten > 0 || !this.#core.gate.atBoundary(mode)) return false
    this.close()
    return true
  }

  /** The stop was not written. The run goes on as before. */
  thaw(): void {
    const { pausing } = this.#core.task
    if (this.#committing || !this.#core.isOurs) return
    this.open(pausing && (pausing.mode ?? 'finish_step'))
  }

  /** Commits the pause under way, if the run is at the boundary that the pause waits for. */
  commitAtBoundary(): void {
    const { gate, releaser, host, taskId } = this.#core
    const mode = gate.pausing
    // A value that the code reads in the same reaction could not be written after the pause. It is asked again after it.
    if (mode === undefined || this.#committing || releaser.reacting) return
    if (!gate.atBoundary(mode)) return
    this.#committing = true
    // Nothing may start before the pause is durable, because the caller is told that nothing runs.
    this.close()
    this.#commit()
      .catch((error: unknown) => host.log('error', 'a pause could not commit', { taskId, error }))
      .finally(() => {
        this.#committing = false
        this.thaw()
      })
  }

  #commit(): Promise<unknown> {
    const { handle, conditions } = this.#core.task.pausing ?? {}
    const fireAt = this.#fireAt(conditions)
    return this.#core.persist({
      type: 'commit-pause',
      ...(handle === undefined ? {} : { handle }),
      ...(fireAt === undefined ? {} : { fireAt }),
    })
  }

  /** Undefined if the schedule has no further time. The pause then keeps the time from its request. */
  #fireAt(conditions: ResumeConditions | undefined): number | undefined {
    try {
      return this.#core.host.fireAt(conditions)
    } catch {
      return undefined
    }
  }
}

/** Releases the task of a run when its process stops: at the next boundary, or when the time is over. */
export class RunRelease {
  readonly #core: RunCore
  /** Set when the process stops. Ends the wait for a boundary. */
  #boundaryReached: ((reason: string) => void) | undefined
  /** Set while the release is written. */
  #released: (() => void) | undefined

  constructor(core: RunCore) {
    this.#core = core
  }

  /** Whether the process stops. */
  get underWay(): boolean {
    return this.#boundaryReached !== undefined
  }

  /** @param late resolves when the process waits no longer */
  async release(late: Promise<void>): Promise<void> {
    const { releaser, gate } = this.#core
    if (this.#core.dead || !this.#core.isOurs) return
    const reason = await new Promise<string>((resolve) => {
      this.#boundaryReached = resolve
      late
        .then(() => {
          // Steps are told to stop before another process can begin them.
          this.#core.run.interrupt('stopping')
          const giveUp = (): void => resolve('it reached no boundary in time')
          this.#core.host.clock.after(INTERRUPTED_MS, giveUp)
        })
        .catch(() => undefined)
      releaser.hold()
      gate.pause('finish_step')
    })
    if (this.#core.dead || !this.#core.isOurs) return
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
