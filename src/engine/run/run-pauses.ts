/**
 * How a run stops for a pause and goes on after it.
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

/** The run that is paused. */
export interface PausableRun {
  /** Whether this run has the task, and the task is working. */
  isOurs(): boolean
  /** Fires the signals of the running steps. */
  interrupt(): void
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class RunPauses {
  readonly #core: RunCore
  readonly #run: PausableRun
  #committing = false

  constructor(core: RunCore, run: PausableRun) {
    this.#core = core
    this.#run = run
  }

  quiesce(mode: PauseMode): void {
    const { releaser, gate } = this.#core
    if (mode !== 'wait_for_completion') releaser.hold()
    if (mode === 'interrupt_immediate') this.#run.interrupt()
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
    if (!this.#run.isOurs()) return true
    // A record that the ledger has not decided yet would be written after the pause.
    if (this.#core.unwritten > 0 || !this.#core.gate.atBoundary(mode)) return false
    this.close()
    return true
  }

  /** The stop was not written. The run goes on as before. */
  thaw(): void {
    const { pausing } = this.#core.task
    if (this.#committing || !this.#run.isOurs()) return
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
