/**
 * One run of an agent on a task: a live JavaScript frame with a token. A run starts fresh or from a journal and follows the
 * records of its task (pause, resume, answer, cancel). It is over when the task ends or another run has the task.
 */

import type { ResumeConditions } from '../../core/conditions.ts'
import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { NewOperation, PauseMode } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import type { Past } from '../conversation.ts'
import { type AbortCode, Aborted } from './abort-reason.ts'
import { Operations } from './operations.ts'
import { PolicyStops } from './policy-stops.ts'
import type { RunControl } from './run-control.ts'
import { RunCore, type RunCoreDeps } from './run-core.ts'
import { type RunEndingDeps, runToEnd } from './run-ending.ts'

export interface RunDeps extends RunCoreDeps {
  readonly owner: RunOwner
  readonly agent: Agent
  readonly token: string
  /** The earlier tasks and messages of the context that the task may see. */
  readonly past: Past
}

/** The part of the engine that starts and drops the runs of this process. */
export interface RunOwner {
  /** The task goes on in a new run (`continueAs`). */
  again(task: Task): void
  /** Another run has the task. */
  lost(taskId: string): void
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Run implements RunControl {
  readonly taskId: string
  readonly agent: string
  readonly #deps: RunDeps
  readonly #core: RunCore
  readonly #operations: Operations
  readonly #policy: PolicyStops
  #controller: AbortController | undefined
  #token: string
  #committing = false
  /** Set while the process stops: ends the wait for a boundary. */
  #handOver: ((reason: string) => void) | undefined
  /** The run itself has handed in the command that ends its task. */
  #endsItself = false
  /** Set while the release is written: resolves it when the run is over. */
  #ended: (() => void) | undefined
  /** Why the run was given up. */
  #aborted: AbortCode = 'ended'

  constructor(deps: RunDeps) {
    const { agent, task, token } = deps
    this.taskId = task.id
    this.agent = agent.name
    this.#deps = deps
    this.#token = token
    this.#core = new RunCore(deps, this)
    this.#operations = new Operations(this.#core, agent)
    this.#policy = new PolicyStops(this.#core, {
      freeze: () => this.freeze('finish_step'),
      thaw: () => this.thaw(),
    })
  }

  /** The task as last written. */
  get task(): Task {
    return this.#core.task
  }

  get token(): string {
    return this.#token
  }

  get dead(): boolean {
    return this.#core.dead
  }

  /** Operations in flight. */
  get steps(): number {
    return this.#core.gate.inFlight
  }

  /** The children it waits for. */
  get awaited(): readonly string[] {
    return this.#operations.awaited()
  }

  /** Whether the run cannot be rebuilt where it stands: it is in a step, or waits for the next record of a child (W3). */
  get needsFrame(): boolean {
    return this.#core.gate.inFlight > 0 || this.#operations.watching()
  }

  /** Whether the run only waits for children and needs no slot (W1). */
  get #onlyWaitsForChildren(): boolean {
    const { length } = this.awaited
    if (length === 0 || !this.#isOurs(this.task)) return false
    return this.#core.onlyWaits(length, this.#operations.waitingSteps())
  }

  /** The code before the first result runs like the code after any result: through the releaser, which times it. */
  start(): void {
    const { task, ahead } = this.#deps
    const begin = (): void => void runToEnd(this.#ending())
    if (ahead) this.#core.releaser.now(begin)
    else this.#core.releaser.push(0, begin)
    // `continueAs` started this run while a pause is under way.
    if (task.pausing !== undefined) this.#quiesce(task.pausing.mode ?? 'finish_step')
  }

  #ending(): RunEndingDeps {
    const { agent, past, owner } = this.#deps
    return {
      operations: this.#operations,
      agent,
      past,
      ending: () => {
        this.#endsItself = true
      },
      die: () => this.#die(),
      again: (task) => owner.again(task),
    }
  }

  mismatch(key: string): void {
    this.#policy.mismatch(key)
  }

  newOperations(operations: readonly NewOperation[]): void {
    this.#policy.newOperations(operations)
  }

  childUnreadable(childId: string, why: string): void {
    this.#policy.childUnreadable(childId, why)
  }

  /** Created on first read, because few agents read it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.dead) this.#controller.abort(new Aborted(this.#aborted))
    }
    return this.#controller.signal
  }

  lost(): void {
    this.discard('taken-over')
    this.#deps.owner.lost(this.taskId)
  }

  mayWait(): void {
    if (this.awaited.length > 0) setImmediate(() => this.giveBackSlot())
  }

  reacted(): void {
    if (this.dead) return
    this.giveBackSlot()
    this.moved()
  }

  /** Gives the slot back if the run only waits for children. */
  giveBackSlot(): void {
    if (!this.dead && this.#onlyWaitsForChildren) this.#core.slot.giveBack()
  }

  /** The run may have reached the boundary that an accepted pause waits for. */
  moved(): void {
    const { gate } = this.#core
    // The last operation beside a wait for a child may end without a result that the code reacts to.
    this.mayWait()
    if (this.#handOver !== undefined) {
      if (gate.atBoundary('finish_step')) this.#handOver('it reached a boundary')
      return
    }
    const mode = gate.pausing
    if (mode === undefined || this.#committing || !gate.atBoundary(mode)) return
    this.#committing = true
    // Nothing may start before the pause is durable: the caller is told that nothing runs.
    this.#close()
    this.#commitPause()
      .catch((error: unknown) => {
        const { taskId } = this
        this.#deps.host.log('error', 'a pause could not commit', { taskId, error })
      })
      .finally(() => {
        this.#committing = false
        this.thaw()
      })
  }

  #commitPause(): Promise<unknown> {
    const { handle, conditions } = this.task.pausing ?? {}
    const fireAt = this.#firesAt(conditions)
    return this.#core.persist({
      type: 'commit-pause',
      ...(handle === undefined ? {} : { handle }),
      ...(fireAt === undefined ? {} : { fireAt }),
    })
  }

  /** A schedule that fired its last time since the pause was asked for keeps that time. */
  #firesAt(conditions: ResumeConditions | undefined): number | undefined {
    try {
      return this.#deps.host.fireAt(conditions)
    } catch {
      return undefined
    }
  }

  /** Goes on with a new token: the task was resumed or answered while the run was warm. */
  adopt(token: string): void {
    this.#token = token
    this.#policy.resumed()
    this.#core.slot.grant()
    this.#open()
  }

  /** Follows what was written to the task, by any writer. */
  observe(records: readonly LogRecord[], task: Task): void {
    this.#core.follow(task)
    // The run is over: it follows no further records.
    if (this.#endsItself && isTerminal(task.state)) return
    for (const record of records) this.#follow(record, task)
    // The run stopped by itself: there is nothing to hand over any more.
    if (!this.#isOurs(task)) this.#handOver?.('it stopped')
    if (isTerminal(task.state)) this.discard(task.state === 'canceled' ? 'canceled' : 'ended')
    else this.#policy.checkJournal(task)
  }

  #follow(record: LogRecord, task: Task): void {
    const { journal } = this.#deps
    const woken = journal.follow(record)
    switch (record.type) {
      case 'pause-requested':
      case 'pause-upgraded':
        if (task.pausing !== undefined) this.#quiesce(task.pausing.mode ?? 'finish_step')
        break
      case 'paused':
        this.#close()
        // The run is given up and rebuilt on resume where its code is in no `task.*` call and cannot be frozen, and where
        // its code has read the wake and would see another.
        if (this.#core.gate.waiting() === 0 || this.#policy.cannotGoOn || journal.wakes.looked()) {
          this.discard('given-up')
        }
        break
      case 'parked':
        this.#close()
        break
      case 'asked':
        this.#operations.stops.asked(record.key)
        this.#close()
        break
      case 'pause-withdrawn':
        if (this.#isOurs(task)) this.#open()
        break
      case 'resumed':
        if (woken?.park !== undefined) {
          this.#operations.stops.woken(woken.park.key, woken.wake, record.seq)
        }
        break
      case 'answered':
        this.#operations.stops.answered(record.message, record.decision, record.seq)
        break
      default:
    }
  }

  /** Whether a pause could commit now; if so, nothing starts until `observe` or `thaw`. */
  freeze(mode: PauseMode): boolean {
    if (!this.#isOurs(this.task)) return true
    // A record that the ledger has not decided yet would be written after the pause.
    if (this.#core.unwritten > 0 || !this.#core.gate.atBoundary(mode)) return false
    this.#close()
    return true
  }

  /** The stop was not written: the run goes on as before. */
  thaw(): void {
    const { task } = this
    if (this.#committing || !this.#isOurs(task)) return
    this.#open(task.pausing && (task.pausing.mode ?? 'finish_step'))
  }

  #quiesce(mode: PauseMode): void {
    const { releaser, gate } = this.#core
    if (mode !== 'wait_for_completion') releaser.hold()
    if (mode === 'interrupt_immediate') this.#operations.abort('paused')
    gate.pause(mode)
  }

  #close(): void {
    this.#core.releaser.shut()
    this.#core.gate.close()
  }

  /** With a mode, a pause is still under way. */
  #open(mode?: PauseMode): void {
    const { releaser, gate } = this.#core
    releaser.open()
    if (mode !== undefined && mode !== 'wait_for_completion') releaser.hold()
    gate.reopen(mode)
  }

  /** Whether the task runs in this run. A warm run whose task waits for a slot stands still. */
  #isOurs({ state, run }: Task): boolean {
    return state === 'working' && run?.token === this.#token
  }

  /** For a process that stops: releases the task at the next boundary, or when the time is over. */
  async release(late: Promise<void>): Promise<void> {
    const { releaser, gate } = this.#core
    if (this.dead || !this.#isOurs(this.task)) return
    const reason = await new Promise<string>((resolve) => {
      this.#handOver = resolve
      late.then(() => resolve('it reached no boundary in time')).catch(() => undefined)
      releaser.hold()
      gate.pause('finish_step')
    })
    if (this.dead || !this.#isOurs(this.task)) return
    // Something still runs: a pause is not reported before it is true. The next process commits it before it starts anything.
    if (this.task.pausing !== undefined && !gate.atBoundary('finish_step')) return
    await new Promise<void>((resolve, reject) => {
      this.#ended = resolve
      const inFlight = gate.inFlight > 0 ? { inFlight: true as const } : {}
      this.#core.persist({ type: 'release', reason, ...inFlight }).then(() => resolve(), reject)
    })
  }

  #die(): void {
    this.#core.die()
    this.#deps.host.live.clear(this.taskId)
    // A run that has ended has nothing to hand over, and must not keep a stopping process waiting.
    this.#ended?.()
    this.#handOver?.('it has ended')
  }

  /** Gives the run up: nothing of it settles or is written afterwards. */
  discard(code: AbortCode): void {
    if (this.dead) return
    this.#die()
    this.#aborted = code
    this.#operations.abort(code)
    this.#controller?.abort(new Aborted(code))
  }
}
