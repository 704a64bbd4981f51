/**
 * The path of every operation of a run, and the state that the operations share.
 *
 *   operation ── recorded? ──yes──▶ releaser ──▶ agent code
 *        └──no──▶ gate ──▶ work ──▶ persist (durable) ──▶ releaser ──▶ agent code
 *
 * R1  A recorded operation is never executed again.
 * R2  Its result reaches the agent only after its record is durable, in the order of the records.
 * R3  A run that lost its task (dead) settles nothing and writes nothing.
 * R4  No step acts before its task, and every value it may have seen, is durable.
 */
import { LullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { JournalRecord } from '../../core/records.ts'
import type { NewOperation } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import type { Committed } from '../ledger.ts'
import type { Ask } from '../providers/asking.ts'
import { type Asked, CodePlace } from './code-place.ts'
import { Gate, type GateDeps } from './gate.ts'
import type { RunHost } from './host.ts'
import type { Entry, Journal } from './journal.ts'
import { KeyCounter } from './key-counter.ts'
import { NewOperations, type Rebuilding } from './new-operations.ts'
import { type OperationScope, scopeOf, within } from './operation-scope.ts'
import { Releaser } from './releaser.ts'
import { RunSlot, type SlotHost } from './run-slot.ts'
import { neverSettles, type RunAct, RunWriter, type Writing } from './run-writer.ts'
import type { Unclaimed } from './unclaimed.ts'

export type { Asked } from './code-place.ts'
export type { OperationScope } from './operation-scope.ts'

export interface Operation<T> {
  readonly key: string
  /** Compared with the recorded one: another means that the code has changed. */
  readonly fingerprint?: string
  /** The recorded result, or the recorded failure thrown again. Undefined: the entry is of another kind. */
  readonly replay: (entry: Entry) => { readonly value: T } | undefined
  readonly live: (asked: Asked) => Promise<Finished<T>>
  /** It acts on nothing outside the task: new code may do it wherever it stands. */
  readonly harmless?: true
  /** The author allows it to be new. */
  readonly added?: true
}

/** An operation whose record is durable. */
export interface Finished<T> {
  readonly seq: number
  readonly settle: () => T
}

/** What operations can tell and ask the run they belong to. */
export interface RunControl {
  readonly token: string
  /** The run may have reached a boundary. */
  moved(): void
  /** The code has reacted to the last result. */
  reacted(): void
  mismatch(key: string): void
  /** The code asks for these, which are not recorded, and never for what is recorded behind them. */
  newOperations(operations: readonly NewOperation[]): void
  /** The code waits for a child whose log cannot be read. */
  childUnreadable(childId: string, why: string): void
  /** Fires when the run is given up: nobody waits for anything any more. */
  readonly signal: AbortSignal
  /** The run may do nothing but wait for children now, and then needs no slot. */
  mayWait(): void
  /** Another run has the task. */
  lost(): void
}

export interface RunCoreDeps {
  readonly host: RunHost
  readonly journal: Journal
  readonly task: Task
  /** The task is not durable until the run has followed its first record. */
  readonly ahead: boolean
  /** What the providers of the agent want the task to be reminded of. */
  readonly ask: Ask
  readonly agent: Pick<Agent, 'newSteps'>
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class RunCore implements GateDeps, Writing, Rebuilding, SlotHost {
  readonly host: RunHost
  readonly slot: RunSlot
  readonly gate: Gate
  readonly releaser: Releaser
  readonly journal: Journal
  readonly ask: Ask
  readonly control: RunControl
  readonly #writer: RunWriter
  readonly #keys = new KeyCounter()
  readonly #place: CodePlace
  /** Operations that were called and whose result is not in the releaser yet. */
  #unsettled = 0
  #dead = false
  #task: Task
  #lastResult = 0
  #durable: boolean
  #waitingForTask: (() => void)[] = []

  constructor({ host, journal, task, ask, ahead, agent }: RunCoreDeps, control: RunControl) {
    this.control = control
    this.host = host
    this.journal = journal
    this.ask = ask
    this.#task = task
    this.#durable = !ahead
    this.slot = new RunSlot(this)
    this.#writer = new RunWriter(this)
    this.gate = new Gate(this)
    const newOperations = agent.newSteps === 'run' ? undefined : new NewOperations(this)
    this.#place = new CodePlace(journal, newOperations)
    const reacted = (ms: number): void => {
      this.#place.reacted()
      if (ms >= host.limits.blockMs) host.blocked(task.agent, task.id, ms)
      control.reacted()
    }
    this.releaser = new Releaser(host.clock.now, reacted, () => this.slot.ask())
  }

  get taskId(): string {
    return this.#task.id
  }

  get token(): string {
    return this.control.token
  }

  withheld(): number {
    return this.releaser.size
  }

  unsettled(): number {
    return this.#unsettled
  }

  moved(): void {
    if (!this.#dead) this.control.moved()
  }

  release(): boolean {
    return this.host.releaseSlot(this.taskId)
  }

  reacquire(): Promise<void> {
    return this.host.reacquireSlot(this.taskId)
  }

  taken(): void {
    if (this.#dead) return
    this.releaser.review()
    this.gate.review()
  }

  written(): void {
    this.control.mayWait()
  }

  /** Nothing of the run can go on by itself but what waits outside, and the operations in flight (W1). */
  onlyWaits(outside: number, inFlight: number): boolean {
    const { gate, releaser } = this
    return gate.waitsOnlyFor(outside, inFlight) && this.#writer.idle && !releaser.ready
  }

  lost(): void {
    this.control.lost()
  }

  /** The task as last written, by any writer. */
  get task(): Task {
    return this.#task
  }

  /** The record of the last result that code outside of steps was handed. */
  get lastResult(): number {
    return this.#lastResult
  }

  get dead(): boolean {
    return this.#dead
  }

  /** How many acts the ledger has not decided yet. A record that is decided meanwhile comes before them. */
  get unwritten(): number {
    return this.#writer.unwritten()
  }

  get scope(): OperationScope {
    return scopeOf(this)
  }

  /** @throws LullError `INVALID_INPUT` when called in one of these: nothing could go on then */
  notInside(call: string, ...places: readonly ('step' | 'turn')[]): void {
    const { inside, turn } = this.scope
    const found = inside !== undefined ? 'step' : turn !== undefined ? 'turn' : undefined
    if (found === undefined || !places.includes(found)) return
    const problem = `${call} cannot be called inside a ${found}`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  get clock(): RunHost['clock'] {
    return this.host.clock
  }

  get unclaimed(): Unclaimed {
    return this.journal.unclaimed
  }

  isStill(): boolean {
    const { state, pausing } = this.#task
    return this.releaser.size === 0 && state === 'working' && pausing === undefined
  }

  changed(operations: readonly NewOperation[]): void {
    this.control.newOperations(operations)
  }

  /** Where the code stands now. */
  asked(): Asked {
    return this.#place.asked(this.scope)
  }

  /** Resolves when an operation that is not recorded may run. Undefined: it may run at once. */
  admit(
    operation: Pick<Operation<unknown>, 'key' | 'harmless' | 'added'>,
    asked: Asked,
  ): Promise<void> | undefined {
    return this.#place.admit(operation, asked, this.scope)
  }

  /** Runs code so that the operations it calls know their scope. */
  within<T>(scope: OperationScope, code: () => T): T {
    return within(this, scope, code)
  }

  /** The key of the next operation of that kind and name, counted within the current scope. */
  key(kind: string, name = ''): string {
    const { inside, prefix } = this.scope
    inside?.allow(`task.${kind}`)
    return this.#claimed(this.#keys.next(prefix, kind, name))
  }

  /** The key the author chose, within the current scope. @throws LullError `INVALID_INPUT` when it was used before */
  chosenKey(kind: string, chosen: string): string {
    const { inside, prefix } = this.scope
    inside?.allow(`task.${kind}`)
    return this.#claimed(this.#keys.chosen(prefix, kind, chosen))
  }

  #claimed(key: string): string {
    this.#place.claim(key)
    return key
  }

  /** Counts keys under the prefix from the beginning: a step's function runs once more. */
  recount(prefix: string): void {
    this.#keys.restart(prefix)
  }

  perform<T>(operation: Operation<T>): Promise<T> {
    if (this.#dead) return neverSettles()
    const asked = this.asked()
    const entry = this.journal.get(operation.key)
    const promise =
      entry === undefined ? this.#fresh(operation, asked) : this.#recorded(operation, entry, asked)
    // An operation nobody awaits must not take the process down; its failure is in the log.
    promise.catch(() => undefined)
    return promise
  }

  #fresh<T>(operation: Operation<T>, asked: Asked): Promise<T> {
    this.#unsettled++
    const admitted = this.admit(operation, asked)
    const live = (): Promise<Finished<T>> => operation.live(asked)
    return new Promise((resolve, reject) => {
      const finished = admitted === undefined ? live() : admitted.then(live)
      finished.then(
        ({ seq, settle }) => {
          this.#unsettled--
          this.#release(seq, asked.place, () => resolve(settle()), reject)
        },
        (error: unknown) => {
          this.#unsettled--
          if (!this.#dead) reject(error)
        },
      )
    })
  }

  #recorded<T>(operation: Operation<T>, entry: Entry, asked: Asked): Promise<T> {
    const { key, fingerprint, added } = operation
    const differs = entry.kind !== 'record' && entry.fingerprint !== fingerprint
    const place = added || !this.journal.isInPlace(key, entry) ? asked.place : entry.seq
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        const found = differs ? undefined : operation.replay(entry)
        if (found === undefined) this.control.mismatch(key)
        else resolve(found.value)
      }
      this.#release(entry.seq, place, answer, reject)
    })
  }

  /** @param place where the code stands when it has the result */
  #release(seq: number, place: number, settle: () => void, reject: (error: unknown) => void): void {
    if (this.#dead) return
    const { scope } = this
    const nested = scope.inside !== undefined
    const handOut = (): void => {
      if (this.#dead) return
      this.journal.wakes.show(seq)
      if (!nested) this.#lastResult = seq
      this.#place.give(scope, seq, place)
      try {
        settle()
      } catch (error) {
        reject(error)
      }
    }
    this.releaser.push(seq, handOut, nested)
    // A pause under way may wait for this: the result is withheld now.
    this.control.moved()
  }

  /** Waits for the place of a record in the order of results. */
  released(seq: number, place: number): Promise<void> {
    return new Promise((resolve, reject) => this.#release(seq, place, resolve, reject))
  }

  /** Durable before it resolves, in the order of the calls. Never settles when the run is dead. */
  persist(act: RunAct): Promise<Committed> {
    return this.#writer.write(act)
  }

  /** @param before what stands before it in the same commit */
  record(record: JournalRecord, before: readonly JournalRecord[] = []): Promise<Committed> {
    const inserted = this.#place.isInserted(record.key) ? { inserted: true as const } : {}
    const records = [...before, { ...record, ...inserted }]
    return this.persist({ type: 'record', records, ...this.ask(record, this.#task) })
  }

  /** Written with the next act. Durable before any step that could have seen its value. */
  writeWithNext(act: RunAct): void {
    this.#writer.writeWithNext(act)
  }

  /** Resolves when everything that was handed in so far is durable, and the task itself (R4). */
  async flush(): Promise<void> {
    await this.#writer.flush()
    if (!this.#durable) await new Promise<void>((resolve) => this.#waitingForTask.push(resolve))
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

  /** The task was written to, by any writer. */
  follow(task: Task): void {
    this.#task = task
    this.#durable = true
    if (this.#waitingForTask.length === 0) return
    for (const resolve of this.#waitingForTask.splice(0)) resolve()
  }

  /** Gives the run up: nothing of it settles any more. */
  die(): void {
    this.#dead = true
    this.#place.close()
  }
}
