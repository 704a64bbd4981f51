/**
 * The state that the operations of a run share, and the way to write their records.
 *
 * R4  No step acts before its task, and every value it may have seen, is durable.
 */

import { LullError } from '../../core/errors.ts'
import type { JournalRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Json } from '../../core/values/json.ts'
import type { Agent } from '../author/agent.ts'
import type { Ask } from '../author/providers/provider.ts'
import type { Committed } from '../ledger/ledger.ts'
import { Segment } from '../observe/segment.ts'
import { type CallSite, CodePlace } from './admission.ts'
import { Gate, RunSlot } from './gate.ts'
import type { RunHost } from './host.ts'
import {
  type Operation,
  OperationRunner,
  type OperationScope,
  scopeOf,
  within,
} from './operation-runner.ts'
import { type AbortCode, Aborted } from './operations/execution.ts'
import { OneStop } from './operations/one-stop.ts'
import { Pace, Releaser } from './releaser.ts'
import type { Entry, Journal } from './replay/journal.ts'
import { KeyCounter } from './replay/keys.ts'
import type { Run } from './run.ts'
import { PolicyStops, RunPauses } from './run-pauses.ts'
import { type RunAct, RunWriter } from './run-writer.ts'

export interface RunCoreDeps {
  readonly host: RunHost
  readonly journal: Journal
  readonly task: Task
  readonly token: string
  /** Whether the run started before its task was durable. */
  readonly ahead: boolean
  /** Calls the providers of the agent. */
  readonly ask: Ask
  readonly agent: Pick<Agent, 'newSteps'>
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class RunCore {
  readonly host: RunHost
  readonly slot: RunSlot
  readonly gate: Gate
  readonly segment: Segment
  readonly releaser: Releaser
  readonly journal: Journal
  readonly ask: Ask
  readonly run: Run
  readonly pauses: RunPauses
  readonly policy: PolicyStops
  /** A run that goes on after a stop has a new one. */
  token: string
  readonly #writer: RunWriter
  readonly #keys = new KeyCounter()
  readonly #runner: OperationRunner
  readonly place: CodePlace
  readonly pace: Pace
  #oneStop: OneStop | undefined
  #dead = false
  #controller: AbortController | undefined
  /** Why the run was dropped. */
  #aborted: AbortCode = 'ended'
  #task: Task
  /** A run may start before its task is durable. */
  #isTaskDurable: boolean
  readonly #untilDurable: (() => void)[] = []

  constructor(deps: RunCoreDeps, run: Run) {
    const { host, journal, task, ask, agent } = deps
    this.run = run
    this.token = deps.token
    this.host = host
    this.journal = journal
    this.ask = ask
    this.#task = task
    this.#isTaskDurable = !deps.ahead
    this.segment = new Segment(host.tracing)
    this.slot = new RunSlot(this)
    this.#writer = new RunWriter(this)
    this.gate = new Gate(this)
    this.#runner = new OperationRunner(this)
    this.place = new CodePlace(this, agent.newSteps === 'run')
    const reacted = (ms: number): void => {
      this.place.endReaction()
      if (ms >= host.limits.blockMs) host.blocked(task.agent, task.id, ms)
      run.reacted()
    }
    this.pauses = new RunPauses(this)
    this.policy = new PolicyStops(this)
    this.pace = new Pace(() => this.releaser.review())
    let before: string | undefined
    const begins = (): void => {
      before = host.running(task.id)
    }
    const ends = (): void => void host.running(before)
    const code = { begins, ends, reacted }
    this.releaser = new Releaser(host.clock.elapsed, code, this.pace, () => this.slot.ask())
  }

  get taskId(): string {
    return this.task.id
  }

  /** Whether this run has the task, and the task is working. */
  get isOurs(): boolean {
    const { state, run } = this.#task
    return state === 'working' && run?.token === this.token
  }

  /** Fires when the run is dropped. Created on first read, because few agents read it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#dead) this.abort()
    }
    return this.#controller.signal
  }

  /** Created with the first stop. */
  get oneStop(): OneStop {
    this.#oneStop ??= new OneStop()
    return this.#oneStop
  }

  /** How many results wait in the releaser. */
  withheld(): number {
    return this.releaser.size
  }

  /** How many operations have no result yet: blocked, in flight, or with a record that is being written. */
  unsettled(): number {
    return this.#runner.unsettled + this.pace.waiting
  }

  /** Called after each change that may have brought the run to a boundary. */
  checkBoundary(): void {
    if (!this.#dead) this.run.checkBoundary()
  }

  /**
   * Whether the run only waits (W1 of `gate.ts`): it has exactly `outside` waits for something outside, and `inFlight`
   * operations in flight, all of which wait for a child.
   * Values that the code has read are written first, because a run without a slot may be evicted.
   */
  onlyWaits(outside: number, inFlight: number): boolean {
    const { gate, releaser, pace } = this
    const isQuiet = gate.waitsOnlyFor(outside, inFlight) && !releaser.ready && pace.waiting === 0
    return isQuiet && this.#writer.settle()
  }

  /** The task as last written, by any writer. */
  get task(): Task {
    return this.#task
  }

  /** The number of the record whose result code outside of steps got last. */
  get lastResult(): number {
    return this.#runner.lastResult
  }

  /** The operations whose results the code has not got yet. */
  get open(): ReadonlyMap<Operation<unknown>, Promise<unknown>> {
    return this.#runner.open
  }

  get dead(): boolean {
    return this.#dead
  }

  /** How many acts the ledger has not decided yet. A command that is decided now comes before them. */
  get unwritten(): number {
    return this.#writer.unwritten()
  }

  get scope(): OperationScope {
    return scopeOf(this)
  }

  /** Refuses a call that could never return inside a step or turn. @throws LullError `INVALID_INPUT` */
  notInside(call: string, ...places: readonly ('step' | 'turn')[]): void {
    const { inside, turn } = this.scope
    const found = inside !== undefined ? 'step' : turn !== undefined ? 'turn' : undefined
    if (found === undefined || !places.includes(found)) return
    const problem = `${call} cannot be called inside a ${found}`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  /** Whether no result waits to be handed out and no pause is under way. */
  isStill(): boolean {
    const { state, pausing } = this.task
    const isQuiet = this.releaser.size === 0 && this.pace.waiting === 0
    return isQuiet && state === 'working' && pausing === undefined
  }

  /** The place of the code now. */
  callSite(): CallSite {
    return this.place.callSite(this.scope)
  }

  /** Runs code so that the operations it calls know their scope. */
  within<T>(scope: OperationScope, code: () => T): T {
    return within(this, scope, code)
  }

  /** The key of the next operation of that kind and name, counted within the current scope. */
  key(kind: string, name = ''): string {
    const { inside, prefix } = this.scope
    inside?.allow(`task.${kind}`)
    return this.#noteCall(this.#keys.next(prefix, kind, name))
  }

  /** What the journal has for the next operation of that kind and name. Does not count as a call of it. */
  recordedNext(kind: string, name: string): Entry | undefined {
    return this.journal.get(this.#keys.peek(this.scope.prefix, kind, name))
  }

  /** A key that the agent chose, within the current scope. @throws LullError `INVALID_INPUT` when it was used before */
  chosenKey(kind: string, chosen: string): string {
    const { inside, prefix } = this.scope
    inside?.allow(`task.${kind}`)
    return this.#noteCall(this.#keys.chosen(prefix, kind, chosen))
  }

  #noteCall(key: string): string {
    this.place.noteCall(key)
    return key
  }

  /** Starts to count keys under the prefix again, because a step's function runs again. */
  recount(prefix: string): void {
    this.#keys.restart(prefix)
  }

  perform<T>(operation: Operation<T>): Promise<T> {
    return this.pace.pass(() => this.#runner.perform(operation))
  }

  /** Waits until results up to that record are handed out. */
  released(seq: number, place: number): Promise<void> {
    return this.#runner.released(seq, place)
  }

  /** Durable before it resolves, in the order of the calls. Never settles when the run is dead. */
  persist(act: RunAct): Promise<Committed> {
    return this.#writer.write(act)
  }

  /** @param before records that come before it in the same commit */
  record(record: JournalRecord, before: readonly JournalRecord[] = []): Promise<Committed> {
    const inserted = this.place.isInserted(record.key) ? { inserted: true as const } : {}
    const records = [...before, { ...record, ...inserted }]
    return this.persist({ type: 'record', records, ...this.ask(record, this.task) })
  }

  /** Writes the act together with the next one. It is durable before any step that could have seen its value acts. */
  writeWithNext(act: RunAct): void {
    this.#writer.writeWithNext(act)
  }

  /** Resolves when all acts so far, and the task itself, are durable (R4). */
  async flush(): Promise<void> {
    await this.#writer.flush()
    if (this.#isTaskDurable) return
    await new Promise<void>((resolve) => this.#untilDurable.push(resolve))
    // All that waited for it go on at the same moment.
    await this.pace.next()
  }

  /** `task.now()` and the like. */
  value<T extends Json>(kind: string, make: () => T): T {
    const key = this.key(kind)
    const entry = this.journal.get(key)
    if (entry?.kind === 'record' && entry.record.type === 'value') return entry.record.value as T
    const value = make()
    this.writeWithNext({ type: 'record', records: [{ type: 'value', key, value }] })
    return value
  }

  /** The task was written to, by any writer, so it is durable. */
  follow(task: Task): void {
    this.#task = task
    this.#isTaskDurable = true
    if (this.#untilDurable.length === 0) return
    for (const resolve of this.#untilDurable.splice(0)) resolve()
  }

  /** Fires the signal, if the code has read it. */
  abort(): void {
    this.#controller?.abort(new Aborted(this.#aborted))
  }

  /** Drops the run: none of its operations settles any more. */
  die(code: AbortCode): void {
    this.#aborted = code
    this.slot.close()
    this.#dead = true
    this.place.close()
    this.pace.close()
  }
}
