/**
 * One run of an agent's code for a task, with a token. A run starts with an empty journal or is rebuilt from one. It follows
 * the records of its task (pause, resume, answer, cancel). It is over when the task ends or another run has the task.
 */

import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { SpanLink } from '../../core/values/span-link.ts'
import type { Agent } from '../author/agent.ts'
import type { Past } from '../author/conversation.ts'
import type { AbortCode } from './operations/execution.ts'
import { Operations } from './operations/task-api.ts'
import { RunCore, type RunCoreDeps } from './run-core.ts'
import { type RunEndingDeps, runToEnd } from './run-ending.ts'
import { RunRelease } from './run-pauses.ts'

export interface RunDeps extends RunCoreDeps {
  readonly agent: Agent
  /** The past of the context that the task may see. */
  readonly past: Past
  /** The task goes on in a new run (`continueAs`). */
  readonly again: (task: Task) => void
  /** Another run has the task. */
  readonly lost: (taskId: string) => void
}

/** Up to this version a log has only `submitted` and `started`: its code has not run before. */
const FRESH = 2

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Run {
  readonly taskId: string
  readonly agent: string
  /** The code, which may have been replaced since. */
  readonly source: Agent
  readonly #deps: RunDeps
  readonly #core: RunCore
  readonly #operations: Operations
  /** Set while the process stops. */
  #release: RunRelease | undefined
  /** The run itself writes the command that ends its task. */
  #endsItself = false

  constructor(deps: RunDeps) {
    const { agent, task } = deps
    this.taskId = task.id
    this.agent = agent.name
    this.source = agent
    this.#deps = deps
    this.#core = new RunCore(deps, this)
    this.#operations = new Operations(this.#core, agent)
  }

  /** The task as last written, by any writer. */
  get task(): Task {
    return this.#core.task
  }

  get token(): string {
    return this.#core.token
  }

  get dead(): boolean {
    return this.#core.dead
  }

  /** The number of the record whose result the code got last. */
  get lastResult(): number {
    return this.#core.lastResult
  }

  /** The span of what the run does now. */
  get segment(): SpanLink | undefined {
    return this.#core.segment.link
  }

  /** How many operations are in flight. */
  get steps(): number {
    return this.#core.gate.inFlight
  }

  /** Whether its code may go on by itself: it is in a step, or waits at no call. */
  get mayAct(): boolean {
    return !this.dead && (this.steps > 0 || this.#core.gate.waiting() === 0)
  }

  /** The children that the run waits for. */
  get awaited(): readonly string[] {
    return this.#operations.awaited()
  }

  /** Whether the run must stay in memory: it is in a step, or waits for the next record of a child (W3). */
  get mustStayInMemory(): boolean {
    return this.#core.gate.inFlight > 0 || this.#operations.watching()
  }

  /** Whether the run only waits for children and needs no slot (W1). */
  get #onlyWaitsForChildren(): boolean {
    const { length } = this.awaited
    if (length === 0 || !this.#core.isOurs) return false
    return this.#core.onlyWaits(length, this.#operations.waitingSteps())
  }

  /** Starts the agent's code through the releaser, which measures how long the code blocks the event loop. */
  start(): void {
    const { task, ahead } = this.#deps
    const { segment } = this.#core
    segment.begin(task, task.version > FRESH)
    const begin = (): void => segment.during(() => void runToEnd(this.#ending()))
    if (ahead) this.#core.releaser.now(begin)
    else this.#core.releaser.push(0, begin)
    // `continueAs` started this run while a pause is under way.
    if (task.pausing !== undefined) this.#core.pauses.quiesce(task.pausing.mode ?? 'finish_step')
  }

  #ending(): RunEndingDeps {
    const { agent, past, again } = this.#deps
    return {
      operations: this.#operations,
      agent,
      past,
      ending: () => {
        this.#endsItself = true
      },
      die: () => this.#die('ended'),
      again,
    }
  }

  /** Offers the running steps to stop. */
  interrupt(code: 'paused' | 'stopping'): void {
    this.#operations.interrupt(code)
  }

  /** Another run has the task. */
  lost(): void {
    this.discard('taken-over')
    this.#deps.lost(this.taskId)
  }

  /** The run may only wait for children from now on, and then needs no slot. */
  mayWait(): void {
    if (this.awaited.length > 0) setImmediate(() => this.giveBackSlot())
  }

  /** The code has reacted to the last result. */
  reacted(): void {
    if (this.dead) return
    this.giveBackSlot()
    this.checkBoundary()
  }

  /** Gives the slot back if the run only waits for children. */
  giveBackSlot(): void {
    if (!this.dead && this.#onlyWaitsForChildren) this.#core.slot.giveBack()
  }

  /** The run may have reached the boundary that an accepted pause waits for. */
  checkBoundary(): void {
    // The last operation beside a wait for a child may end without a result that the code reacts to.
    this.mayWait()
    if (this.#release !== undefined) this.#release.checkBoundary()
    else if (this.#core.gate.pausing !== undefined) this.#core.pauses.commitAtBoundary()
  }

  /** The run goes on with a new token, because the task was resumed or answered while the run was warm. */
  adopt(token: string): void {
    this.#core.token = token
    this.#core.segment.begin(this.task, false)
    this.#core.policy.resumed()
    this.#core.slot.grant()
    this.#core.pauses.open()
  }

  /** Follows records that were written to the task, by any writer. */
  observe(records: readonly LogRecord[], task: Task): void {
    const { segment } = this.#core
    segment.stateChanged(this.task.state, task.state)
    this.#core.follow(task)
    // The run is over and follows no further records.
    if (this.#endsItself && isTerminal(task.state)) return
    for (const record of records) this.#follow(record, task)
    if (!this.#core.isOurs) {
      segment.end(task)
      this.#release?.stopped()
    }
    if (isTerminal(task.state)) this.discard(task.state === 'canceled' ? 'canceled' : 'ended')
    else this.#countJournal(task, records)
  }

  #countJournal(task: Task, records: readonly LogRecord[]): void {
    const { journal, host } = this.#deps
    const limit = journal.count(task, records, host.limits)
    if (limit !== undefined) this.#core.policy.journalLimit(limit)
  }

  #follow(record: LogRecord, task: Task): void {
    const { journal } = this.#deps
    const woken = journal.follow(record)
    switch (record.type) {
      case 'pause-requested':
      case 'pause-upgraded':
        if (task.pausing !== undefined)
          this.#core.pauses.quiesce(task.pausing.mode ?? 'finish_step')
        break
      case 'paused':
        this.#core.pauses.close()
        // The run is dropped, and rebuilt on resume, if its code waits at no `task.*` call and so cannot be stopped, if it
        // waits for a result that this run never gets, or if it has read the wake, which the resume replaces.
        if (
          this.#core.gate.waiting() === 0 ||
          this.#core.policy.cannotGoOn ||
          journal.wakes.looked()
        ) {
          this.discard('given-up')
        }
        break
      case 'parked':
        this.#core.pauses.close()
        break
      case 'asked':
        this.#operations.stops.asked(record.key)
        this.#core.pauses.close()
        break
      case 'pause-withdrawn':
        if (this.#core.isOurs) this.#core.pauses.open()
        break
      case 'resumed':
        if (woken?.park !== undefined) {
          this.#operations.stops.woken(woken.park.key, woken.wake, record.seq)
        }
        break
      case 'answered':
        this.#operations.stops.answered(record, record.seq)
        break
      default:
    }
  }

  /** Returns whether a pause could commit now. If so, nothing starts until `observe` or `thaw`. */
  freeze(mode: PauseMode): boolean {
    return this.#core.pauses.freeze(mode)
  }

  /** The stop was not written. The run goes on as before. */
  thaw(): void {
    this.#core.pauses.thaw()
  }

  /** For a process that stops: releases the task at the next boundary, or when `late` resolves. */
  async release(late: Promise<void>): Promise<void> {
    if (this.dead || !this.#core.isOurs) return
    this.#release = new RunRelease(this.#core)
    await this.#release.release(late)
  }

  #die(code: AbortCode): void {
    this.#core.die(code)
    this.#core.segment.end(this.task)
    this.#deps.host.live.clear(this.taskId)
    this.#release?.over()
  }

  /** Drops the run. None of its operations settles or is written afterwards. */
  discard(code: AbortCode): void {
    if (this.dead) return
    this.#die(code)
    this.#operations.abort(code)
    this.#core.abort()
  }
}
