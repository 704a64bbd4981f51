/**
 * Policy stops of a run: the code does not fit the journal any more, the journal has too many records or bytes, or the log of a child
 * that the code waits for cannot be read. Such a stop commits at once if the run is at a boundary, and otherwise at its next
 * boundary. An operator decides how the task goes on.
 */
import type { LogRecord } from '../../../core/records.ts'
import type { NewOperation, PolicyReason } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { weightOf } from '../../../core/values/weight.ts'
import { describeKey } from '../replay/keys.ts'
import type { RunCore } from '../run-core.ts'

interface PolicyStop {
  readonly reason: PolicyReason
  readonly summary: string
  readonly mismatch?: string
  readonly newOperations?: readonly NewOperation[]
}

const RETRY_MS = 1_000

export class PolicyStops {
  readonly #core: RunCore
  #cannotGoOn = false
  #limitRequested = false
  /** Bytes of the records after `#countFrom`. */
  #bytes: number
  #countFrom: number

  constructor(core: RunCore, journalBytes: number) {
    this.#core = core
    this.#bytes = journalBytes
    this.#countFrom = core.task.journal.countFrom
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

  /** Stops the task if its journal has too many records, or too many bytes. */
  checkJournal(task: Task, added: readonly LogRecord[]): void {
    const { countFrom } = task.journal
    this.#bytes = (countFrom === this.#countFrom ? this.#bytes : 0) + weightOf(added)
    this.#countFrom = countFrom
    if (task.state !== 'working' || task.pausing !== undefined || this.#limitRequested) return
    const { journalRecords, journalBytes } = this.#core.host.limits
    const reached =
      task.version - countFrom >= journalRecords
        ? `${journalRecords} records`
        : this.#bytes >= journalBytes && `${journalBytes} bytes`
    if (reached === false) return
    this.#limitRequested = true
    const summary = `More than ${reached} without task.continueAs(state). Resume to go on for as many again, or cancel.`
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
