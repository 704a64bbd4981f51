/**
 * How a run stops and goes on: for a pause (`RunPauses`), for an operator (`PolicyStops`), and to give its task to another
 * process (`RunRelease`).
 *
 *   open ──quiesce──▶ quiescing ──boundary──▶ closed ──open──▶ open
 *     └──────────freeze, stop of the agent──────┘
 *
 * While quiescing, the gate starts no operation that the pause forbids, and the releaser withholds results. While closed,
 * nothing starts and no result is handed out.
 */

import type { NewOperation, PauseMode, PolicyReason } from '../../core/suspension.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { describeKey } from './replay/keys.ts'
import type { RunCore } from './run-core.ts'

/** How long a process that stops waits for interrupted steps. Shorter than `LAST_WRITE_MS` of `executor/runs.ts`. */
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

  /** @param late resolves when the process waits no longer */
  async release(late: Promise<void>): Promise<void> {
    const { releaser, gate } = this.#core
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
  checkBoundary(): void {
    const { releaser, gate } = this.#core
    if (releaser.reacting || !gate.atBoundary('finish_step')) return
    this.#boundaryReached?.('it reached a boundary')
  }

  /** The task has stopped, so it need not be released: ends the wait for a boundary. */
  stopped(): void {
    this.#boundaryReached?.('it stopped')
  }

  /** The run has ended: the process that stops no longer waits for it. */
  over(): void {
    this.#released?.()
    this.#boundaryReached?.('it has ended')
  }
}

interface PolicyStop {
  readonly reason: PolicyReason
  readonly summary: string
  readonly mismatch?: string
  readonly newOperations?: readonly NewOperation[]
}

const RETRY_MS = 1_000

/**
 * Stops the task when the code does not fit the journal any more, when the journal has too many records or bytes, or when the
 * log of a child that the code waits for cannot be read. Such a stop commits at once if the run is at a boundary, and
 * otherwise at its next boundary. An operator decides how the task goes on.
 */
export class PolicyStops {
  readonly #core: RunCore
  #cannotGoOn = false
  #limitRequested = false

  constructor(core: RunCore) {
    this.#core = core
  }

  /** Whether the code waits for a result that this run never gets. After the stop the run is rebuilt. */
  get cannotGoOn(): boolean {
    return this.#cannotGoOn
  }

  /** The code calls another operation than the recorded one. */
  mismatch(key: string): void {
    const recorded = `The recorded operation ${key} (${describeKey(key)})`
    const summary = `${recorded} is not what the code asks for now: another operation, or another input. Resume to run it anew, or cancel.`
    this.#stopForGood({ reason: 'code-changed', summary, mismatch: key })
  }

  newOperations(operations: readonly NewOperation[]): void {
    const pairs = operations.map(
      ({ key, unclaimed }) =>
        `${describeKey(key)} (but not for ${describeKey(unclaimed)}, which is recorded behind it)`,
    )
    const summary = `A step was added or renamed: the code asks for what is not recorded, ${pairs.join(', ')}. Resume to run it once, or cancel.`
    this.#stopForGood({
      reason: 'code-changed',
      summary: summary.slice(0, 4_000),
      newOperations: operations,
    })
  }

  /** The code waits for a child whose log cannot be read. */
  childUnreadable(childId: string, why: string): void {
    if (this.#cannotGoOn) return
    const summary = `The task waits for its child ${childId}, which is unreadable. ${why} Resume when it can be read again, or cancel.`
    this.#stopForGood({ reason: 'child-unreadable', summary: summary.slice(0, 4_000) })
  }

  #stopForGood(policy: PolicyStop): void {
    this.#cannotGoOn = true
    // The call never returns in this run. After an operator's decision the run is rebuilt.
    this.#core.gate.waitForever()
    this.#stop(policy)
  }

  /** Stops the task because its journal has reached that limit. */
  journalLimit(limit: string): void {
    const { state, pausing } = this.#core.task
    if (state !== 'working' || pausing !== undefined || this.#limitRequested) return
    this.#limitRequested = true
    const summary = `More than ${limit} without task.continueAs(state). Resume to go on for as many again, or cancel.`
    this.#stop({ reason: 'journal-limit', summary })
  }

  /** The task was resumed. The limit counts from zero again. */
  resumed(): void {
    this.#limitRequested = false
  }

  #stop(policy: PolicyStop): void {
    const { host, taskId } = this.#core
    host
      .commit(taskId, () => ({
        type: 'policy-pause',
        handle: `suspend-${host.ids.uuid()}`,
        ...policy,
        atBoundary: this.#core.pauses.freeze('finish_step'),
        run: this.#core.token,
      }))
      .catch((error: unknown) => {
        if (this.#core.dead) return
        host.log('error', `could not stop for ${policy.reason}; trying again`, { taskId, error })
        this.#core.pauses.thaw()
        host.clock.after(RETRY_MS, () => {
          if (!this.#core.dead) this.#stop(policy)
        })
      })
  }
}
