/**
 * One run of an agent on a task: a live JavaScript frame with a token. It begins fresh or from a journal, follows the
 * records of its task (pause, resume, answer, cancel), and is over when the task ends or another run has the task.
 */

import type { ResumeConditions } from '../../core/conditions.ts'
import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { NewOperation, PauseMode, PolicyReason } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import type { AgentTask } from '../agent-task.ts'
import type { Past } from '../conversation.ts'
import { json } from '../inputs.ts'
import { parse } from '../parse.ts'
import { type AbortCode, Aborted } from './abort-reason.ts'
import { type RunControl, RunCore, type RunCoreDeps } from './core.ts'
import { describeKey } from './keys.ts'
import { Operations } from './operations.ts'
import { completion, failed, failing } from './outcome.ts'
import { neverSettles, type RunAct } from './run-writer.ts'
import { TaskApi } from './task-api.ts'

export interface RunDeps extends RunCoreDeps {
  readonly owner: RunOwner
  readonly agent: Agent
  readonly token: string
  /** What its task may see of what was before it. */
  readonly past: Past
}

interface PolicyStop {
  readonly reason: PolicyReason
  readonly summary: string
  readonly mismatch?: string
  readonly newOperations?: readonly NewOperation[]
}

/** Who has the runs of this process. */
export interface RunOwner {
  /** The task goes on in a new run (`continueAs`). */
  again(task: Task): void
  /** Somebody else has the task. */
  lost(taskId: string): void
}

const RETRY_MS = 1_000

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Run implements RunControl {
  readonly taskId: string
  readonly agent: string
  readonly #deps: RunDeps
  readonly #core: RunCore
  readonly #operations: Operations
  #controller: AbortController | undefined
  #token: string
  #committing = false
  /** Set while the process stops. */
  #handOver: ((reason: string) => void) | undefined
  /** The run itself has handed in the command that ends its task. */
  #ending = false
  /** Set while it is handed on: the run is over. */
  #ended: (() => void) | undefined
  /** The code no longer fits the journal: after the stop the run is rebuilt. */
  #changed = false
  /** The stop for the journal limit was requested. */
  #limited = false
  /** Why it was given up, once it is. */
  #aborted: AbortCode = 'ended'

  constructor(deps: RunDeps) {
    const { agent, task, token } = deps
    this.taskId = task.id
    this.agent = agent.name
    this.#deps = deps
    this.#token = token
    this.#core = new RunCore(deps, this)
    this.#operations = new Operations(this.#core, agent)
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

  /** It waits for what a child does next: only a live run learns of that. */
  get watching(): boolean {
    return this.#operations.watching()
  }

  /** It only waits for children and needs no slot. */
  get onlyWaitsForChildren(): boolean {
    const { length } = this.awaited
    return length > 0 && this.#core.gate.waitsOnlyFor(length) && this.#isOurs(this.task)
  }

  /** The first stretch of code runs like any other: released in its place, and timed. */
  start(): void {
    const { task, ahead } = this.#deps
    const begin = (): void => void this.#execute()
    if (ahead) this.#core.releaser.now(begin)
    else this.#core.releaser.push(0, begin)
    // Begun by `continueAs` while a pause is under way.
    if (task.pausing !== undefined) this.#quiesce(task.pausing.mode ?? 'finish_step')
  }

  /** Never rejects. */
  async #execute(): Promise<void> {
    const end = await this.#outcome()
    try {
      await this.#end(end)
    } catch (error) {
      await this.#endFailed(error)
    }
  }

  /** What the agent's code came to. */
  async #outcome(): Promise<RunAct> {
    const { agent, past } = this.#deps
    try {
      const api = new TaskApi(this.#operations, past, (state) => this.#continueAs(state))
      return completion(await agent.run?.(api), this.#core)
    } catch (error) {
      return failing(error, agent, this.#core)
    }
  }

  /** Ends the task. A store that is down is waited for. */
  async #end(act: RunAct): Promise<void> {
    if (this.dead) return
    await this.#operations.childrenExist()
    await this.#core.gate.duringLast(async () => {
      this.#ending = true
      await this.#core.persist(act)
      this.#die()
    })
  }

  /** The task could not end as its code wanted: it fails and says why. Nobody would end it otherwise. */
  async #endFailed(error: unknown): Promise<void> {
    const { host } = this.#deps
    const { taskId } = this
    host.log('error', 'a task could not end as its agent wanted; it fails', { taskId, error })
    for (;;) {
      try {
        await this.#end(failed(error, this.#core))
        return
      } catch (again) {
        host.log('error', 'a task could not be ended; trying again', { taskId, error: again })
        await new Promise<void>((resolve) => host.clock.after(RETRY_MS, resolve))
      }
    }
  }

  async #continueAs(state: Parameters<AgentTask['continueAs']>[0]): Promise<never> {
    const core = this.#core
    core.notInside('task.continueAs', 'step')
    const kept = parse(json, state, 'state')
    await this.#operations.turns.endOpen()
    const key = core.key('continue')
    await this.#operations.childrenExist()
    await core.gate.duringLast(async () => {
      const transcript = this.#operations.turns.transcript()
      await core.persist({ type: 'continue-as', key, state: kept, transcript })
      this.#die()
    })
    this.#deps.owner.again(this.task)
    return neverSettles()
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

  waits(): void {
    setImmediate(() => this.reacted())
  }

  reacted(): void {
    if (this.dead) return
    this.#releaseSlot()
    this.moved()
  }

  #releaseSlot(): void {
    if (!this.dead && this.onlyWaitsForChildren) this.#deps.host.releaseSlot(this.taskId)
  }

  /** Something came to rest: is it what an accepted pause was waiting for? */
  moved(): void {
    const { gate } = this.#core
    // The last operation beside a wait for a child may end without a result that the code reacts to.
    if (this.onlyWaitsForChildren) setImmediate(() => this.#releaseSlot())
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

  /** The code asks for another operation than the recorded one. The task stops, and an operator decides. */
  mismatch(key: string): void {
    const summary = `The recorded operation ${key} is not what the code asks for now. Resume to run it anew, or cancel.`
    this.#stopForChange({ reason: 'code-changed', summary, mismatch: key })
  }

  newOperations(operations: readonly NewOperation[]): void {
    const pairs = operations.map(
      ({ key, unclaimed }) =>
        `${describeKey(key)} (but not for ${describeKey(unclaimed)}, which is recorded behind it)`,
    )
    const summary = `A step was added or renamed: the code asks for what is not recorded, ${pairs.join(', ')}. Resume to run it once, or cancel.`
    this.#stopForChange({
      reason: 'code-changed',
      summary: summary.slice(0, 4_000),
      newOperations: operations,
    })
  }

  #stopForChange(policy: PolicyStop): void {
    this.#changed = true
    // The code waits for an operator's decision, and never gets an answer.
    void this.#core.gate.whileWaiting(neverSettles)
    this.#stopByPolicy(policy)
  }

  /** Commits at once where the run stands still, at its next boundary otherwise. */
  #stopByPolicy(policy: PolicyStop): void {
    const { host } = this.#deps
    const { taskId } = this
    host
      .commit(taskId, () => ({
        type: 'policy-pause',
        handle: `suspend-${host.ids.uuid()}`,
        ...policy,
        atBoundary: this.freeze('finish_step'),
        run: this.#token,
      }))
      .catch((error: unknown) => {
        if (this.dead) return
        host.log('error', `could not stop for ${policy.reason}; trying again`, { taskId, error })
        this.thaw()
        host.clock.after(RETRY_MS, () => {
          if (!this.dead) this.#stopByPolicy(policy)
        })
      })
  }

  /** Goes on with a new token: the task was resumed or answered while the run was warm. */
  adopt(token: string): void {
    this.#token = token
    this.#limited = false
    this.#open()
  }

  /** Follows what was written to the task, by whomever. */
  observe(records: readonly LogRecord[], task: Task): void {
    this.#core.follow(task)
    // The run is over: it follows no further records.
    if (this.#ending && isTerminal(task.state)) return
    for (const record of records) this.#follow(record, task)
    // It stopped by itself: there is nothing to hand over any more.
    if (!this.#isOurs(task)) this.#handOver?.('it stopped')
    if (isTerminal(task.state)) this.discard(task.state === 'canceled' ? 'canceled' : 'ended')
    else this.#checkJournal(task)
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
        // Code that is in no `task.*` call cannot be frozen, and code that looked at a wake cannot be told another:
        // it is given up and rebuilt on resume.
        if (this.#core.gate.waiting() === 0 || this.#changed || journal.wakes.looked()) {
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

  /** What was frozen was not written: it goes on as it was. */
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

  /** Whether the task runs, and here. A warm run whose task waits for a slot stands still. */
  #isOurs({ state, run }: Task): boolean {
    return state === 'working' && run?.token === this.#token
  }

  #checkJournal(task: Task): void {
    if (task.state !== 'working' || task.pausing !== undefined) return
    const { journalRecords } = this.#deps.host.limits
    if (this.#limited || task.version - task.journal.countFrom < journalRecords) return
    this.#limited = true
    const summary = `More than ${journalRecords} records without task.continueAs(state). Resume to go on for as many again, or cancel.`
    this.#stopByPolicy({ reason: 'journal-limit', summary })
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
    // What has ended has nothing to hand over, and must not keep a stopping process waiting.
    this.#ended?.()
    this.#handOver?.('it has ended')
  }

  /** Gives the run up: nothing of it settles or is written any more. */
  discard(code: AbortCode): void {
    if (this.dead) return
    this.#die()
    this.#aborted = code
    this.#operations.abort(code)
    this.#controller?.abort(new Aborted(code))
  }
}
