/**
 * The heart of a run: keys, the journal, and the way every operation takes.
 *
 *   operation ── recorded? ──yes──▶ releaser ──▶ agent code
 *        └──no──▶ gate ──▶ work ──▶ persist (durable) ──▶ releaser ──▶ agent code
 *
 * R1  A recorded operation is never executed again.
 * R2  Its result reaches the agent only after its record is durable, in the order of the records.
 * R3  A run that lost its task (dead) settles nothing and writes nothing.
 * R4  No step acts before its task, and every value it may have seen, is durable.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { LullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { JournalRecord } from '../../core/records.ts'
import type { NewOperation } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import type { Committed } from '../ledger.ts'
import type { Ask } from '../providers/asking.ts'
import type { Execution } from './execution.ts'
import { Gate, type GateDeps, type Scope } from './gate.ts'
import type { RunHost } from './host.ts'
import type { Entry, Journal } from './journal.ts'
import { escapeName } from './keys.ts'
import { NewOperations, type Rebuilding } from './new-operations.ts'
import { Releaser } from './releaser.ts'
import { neverSettles, type RunAct, RunWriter, type Writing } from './run-writer.ts'
import type { Unclaimed } from './unclaimed.ts'

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

/** Where the code stood when it asked for an operation. */
export interface Asked {
  /** The record of the result it had just been given (`unclaimed.ts`). */
  readonly place: number
  /** The operation may have been in flight when a run of the task died. */
  readonly mayHaveBegun: boolean
}

/** An operation whose record is durable. */
export interface Finished<T> {
  readonly seq: number
  readonly settle: () => T
}

export interface OperationScope extends Scope {
  /** The execution of the step whose function called it, if any. */
  readonly inside?: Execution | undefined
  /** Keys inside a step are counted apart, because a recorded step does not run its function again. */
  readonly prefix: string
  /** An earlier execution of the step it is in may have begun. */
  readonly mayHaveRun?: true
  /** Where the code stood when it asked for that step. */
  readonly place?: number
}

const top: OperationScope = { prefix: '' }
/** One for all runs: Node hands each of them on to every promise there is, and lets go of none. */
const scopes = new AsyncLocalStorage<{ readonly run: object; readonly scope: OperationScope }>()

/** The run it is the heart of. */
export interface RunControl {
  readonly token: string
  /** The run may have reached a boundary. */
  moved(): void
  /** The code has done what there was to do with the last result. */
  reacted(): void
  mismatch(key: string): void
  /** The code asks for these, which are not recorded, and never for what is recorded behind them. */
  newOperations(operations: readonly NewOperation[]): void
  /** Fires when it is given up: nobody waits for anything any more. */
  readonly signal: AbortSignal
  /** It waits for a child, and may need no slot now. */
  waits(): void
  /** The task is somebody else's now. */
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

/** A class, like all that is made for every run. What it makes for itself it makes when it is needed. */
export class RunCore implements GateDeps, Writing, Rebuilding {
  readonly host: RunHost
  readonly gate: Gate
  readonly releaser: Releaser
  readonly journal: Journal
  readonly ask: Ask
  readonly control: RunControl
  readonly #writer: RunWriter
  #counts: Map<string, number> | undefined
  #pending: RunAct[] = []
  /** The last of what was pending. */
  #handedIn: Promise<unknown> | undefined
  /** Operations that were called and whose result is not in the releaser yet. */
  #unsettled = 0
  #dead = false
  #task: Task
  #lastResult = 0
  #newestResult = 0
  readonly #newOperations: NewOperations | undefined
  /** Set while the code reacts to a result: in which scope, and where it stands. */
  #reaction: { readonly prefix: string; readonly place: number } | undefined
  /** The newest result in its place that the code of a scope was given. */
  #places: Map<string, number> | undefined
  /** New operations that are recorded in front of others. */
  #inserted: Set<string> | undefined
  #durable: boolean
  #waitingForTask: (() => void)[] = []

  constructor({ host, journal, task, ask, ahead, agent }: RunCoreDeps, control: RunControl) {
    this.control = control
    this.host = host
    this.journal = journal
    this.ask = ask
    this.#task = task
    this.#durable = !ahead
    this.#writer = new RunWriter(this)
    this.gate = new Gate(this)
    if (agent.newSteps !== 'run') this.#newOperations = new NewOperations(this)
    this.releaser = new Releaser(host.clock.now, (ms) => {
      this.#reaction = undefined
      if (ms >= host.limits.blockMs) host.blocked(task.agent, task.id, ms)
      control.reacted()
    })
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

  lost(): void {
    this.control.lost()
  }

  /** As last written, by whomever. */
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

  /** How many acts the ledger has not looked at yet: what is decided meanwhile comes before them. */
  get unwritten(): number {
    return this.#writer.unwritten()
  }

  get scope(): OperationScope {
    const current = scopes.getStore()
    // A run that was started by a step of another one is not inside that step.
    return current?.run === this ? current.scope : top
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
    const { prefix, place = 0, mayHaveRun } = this.scope
    const { diedAt } = this.journal
    const isReaction = this.#reaction?.prefix === prefix
    return {
      place: isReaction
        ? (this.#reaction?.place ?? 0)
        : Math.max(place, this.#places?.get(prefix) ?? 0),
      mayHaveBegun: mayHaveRun ?? (diedAt > 0 && this.#newestResult <= diedAt),
    }
  }

  /** Resolves when an operation that is not recorded may run. Undefined: it may at once. */
  admit(
    { key, harmless, added }: Pick<Operation<unknown>, 'key' | 'harmless' | 'added'>,
    { place }: Asked,
  ): Promise<void> | undefined {
    const { unclaimed } = this.journal
    if (unclaimed.behind(place, key) === undefined) return undefined
    if (!(harmless || added || this.#newOperations === undefined || this.journal.knows(key))) {
      return this.#newOperations.admit(key, place, this.scope.inside?.signal)
    }
    this.#inserted ??= new Set()
    this.#inserted.add(key)
    return undefined
  }

  /** Runs code so that the operations it calls know what they are in. */
  within<T>(scope: OperationScope, code: () => T): T {
    return scopes.run({ run: this, scope }, code)
  }

  /** The key of the next operation of that kind and name, counted within the current scope. */
  key(kind: string, name = ''): string {
    this.scope.inside?.allow(`task.${kind}`)
    const stem = `${this.scope.prefix}${kind}:${escapeName(name)}`
    this.#counts ??= new Map()
    const occurrence = (this.#counts.get(stem) ?? 0) + 1
    this.#counts.set(stem, occurrence)
    return this.#claimed(`${stem}#${occurrence}`)
  }

  #claimed(key: string): string {
    this.journal.unclaimed.ask(key)
    this.#newOperations?.moved()
    return key
  }

  /** The key the author chose, within the current scope. @throws LullError `INVALID_INPUT` when it was used before */
  chosenKey(kind: string, chosen: string): string {
    this.scope.inside?.allow(`task.${kind}`)
    const made = `${this.scope.prefix}${kind}:${escapeName(chosen)}#key`
    this.#counts ??= new Map()
    if (this.#counts.has(made)) {
      throw new LullError('INVALID_INPUT', { path: 'key', problem: `"${chosen}" was used before` })
    }
    this.#counts.set(made, 1)
    return this.#claimed(made)
  }

  /** Counts again from the beginning there: a step's function runs once more. */
  recount(prefix: string): void {
    const counts = this.#counts
    if (counts === undefined) return
    for (const stem of counts.keys()) if (stem.startsWith(prefix)) counts.delete(stem)
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
    const { inside, prefix } = this.scope
    const nested = inside !== undefined
    const handOut = (): void => {
      if (this.#dead) return
      this.journal.wakes.show(seq)
      if (!nested) this.#lastResult = seq
      if (!nested && seq > this.#newestResult) this.#newestResult = seq
      this.#stand(prefix, place)
      try {
        settle()
      } catch (error) {
        reject(error)
      }
    }
    this.releaser.push(seq, handOut, nested)
    // Withheld, it may be what a pause is waiting for.
    this.control.moved()
  }

  #stand(prefix: string, place: number): void {
    if (this.journal.unclaimed.isEmpty) return
    this.#reaction = { prefix, place }
    this.#newOperations?.moved()
    this.#places ??= new Map()
    if (place > (this.#places.get(prefix) ?? 0)) this.#places.set(prefix, place)
  }

  /** Waits for the place of a record in the order of results. */
  released(seq: number, place: number): Promise<void> {
    return new Promise((resolve, reject) => this.#release(seq, place, resolve, reject))
  }

  /** Durable before it resolves, in the order of the calls. Never settles when the run is dead. */
  persist(act: RunAct): Promise<Committed> {
    this.#handInPending()
    return this.#writer.write(act)
  }

  /** @param before what stands before it in the same commit */
  record(record: JournalRecord, before: readonly JournalRecord[] = []): Promise<Committed> {
    const inserted = this.#inserted?.has(record.key) ? { inserted: true as const } : {}
    const records = [...before, { ...record, ...inserted }]
    return this.persist({ type: 'record', records, ...this.ask(record, this.#task) })
  }

  /** A record that rides with the next act, and is durable before any step that could have seen its value. */
  writeWithNext(act: RunAct): void {
    this.#pending.push(act)
  }

  /**
   * Resolves when all that is durable, and the task itself. Also waits for what another branch has handed in: the code
   * may have seen it.
   */
  async flush(): Promise<void> {
    this.#handInPending()
    await this.#handedIn
    if (!this.#durable) await new Promise<void>((resolve) => this.#waitingForTask.push(resolve))
  }

  #handInPending(): void {
    if (this.#pending.length === 0) return
    const acts = this.#pending
    this.#pending = []
    for (const act of acts) this.#handedIn = this.#writer.write(act)
  }

  /** `task.now()` and the like. */
  value<T extends Json>(kind: string, make: () => T): T {
    const key = this.key(kind)
    const entry = this.journal.get(key)
    if (entry?.kind === 'record' && entry.record.type === 'value') return entry.record.value as T
    const value = make()
    this.#pending.push({ type: 'record', records: [{ type: 'value', key, value }] })
    return value
  }

  /** The task was written to, by whomever. */
  follow(task: Task): void {
    this.#task = task
    this.#durable = true
    if (this.#waitingForTask.length === 0) return
    for (const resolve of this.#waitingForTask.splice(0)) resolve()
  }

  /** Gives the run up: nothing of it settles any more. */
  die(): void {
    this.#dead = true
    this.#newOperations?.close()
  }
}
