/**
 * Decides when an operation of a run may start, and when the run is at a boundary, so that a pause can commit.
 *
 *   open ──pause──▶ pausing ──boundary──▶ closed ──resume──▶ open
 *     └──park, ask──▶ stopping ─────────────┘
 *
 * G1  While pausing no new operation starts, except inside a running turn for `wait_for_completion`, and except
 *     operations nested in one that is already in flight.
 * G2  The boundary of a pause: no operation is in flight and the run waits at a `task.*` call (blocked here, its record
 *     being written, withheld in the releaser, or waiting for a child); for `wait_for_completion` also no turn is open.
 * G3  A park or a question starts only when nothing else is in flight, and nothing starts until it is over.
 * G4  Blocked operations start in the order they came.
 * G5  Every entry is left: each entry method takes the work as a function, and leaves when the work settles.
 *
 * No operation starts without a slot: the permission to run code, of which each agent has a limited number.
 *
 * W1  A run gives its slot back when a call waits for a child and nothing else can go on by itself: every operation in
 *     flight is a step with such a call inside it, no record is being written, no retry is due, no result can be handed out.
 * W2  Without a slot no operation starts and no result is handed out. An operation that can go on asks for a slot first.
 * W3  A run that waits for a child inside a step, or watches it, stays in memory: a rebuilt run could not continue there.
 * W4  After a minute without a slot, the counted deaths of processes are reset: what the run did before did not end its
 *     process. A shorter wait proves nothing, because the next record may make the code end the process again.
 */

import type { PauseMode } from '../../core/suspension.ts'
import type { RunCore } from './run-core.ts'

/** The turn that an operation is in, and the operation whose function called it. */
export interface Scope {
  readonly turn?: object | undefined
  readonly inside?: object | undefined
}

type Kind = 'operation' | 'stop' | 'last'
type Blocked = { readonly kind: Kind; readonly scope: Scope; readonly started: () => void }

/** Many blocked operations may start at the same moment, so they keep the run's pace. */
type GatedRun = Pick<RunCore, 'withheld' | 'unsettled' | 'checkBoundary'> & {
  readonly slot: Pick<RunCore['slot'], 'ask' | 'take'>
  readonly pace: Pick<RunCore['pace'], 'next'>
}

const anywhere: Scope = {}

/** The result of an operation of a batch that has begun nothing yet. It is tried again. */
export const notBegun: unique symbol = Symbol('not begun')
/** How one operation of a batch is run. */
export type During = <T>(work: () => Promise<T> | T) => Promise<T>

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Gate {
  readonly #run: GatedRun
  #inFlight = 0
  #outside = 0
  /** How many of the outside waits never end. */
  #endless = 0
  #turns = 0
  #stop = false
  #stopsWanted = 0
  #refusesStops = false
  #mode: PauseMode | undefined
  #closed = false
  readonly #blocked: Set<Blocked> = new Set()

  constructor(run: GatedRun) {
    this.#run = run
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get pausing(): PauseMode | undefined {
    return this.#mode
  }

  /** Whether an operation could start now, if it has a slot. */
  admits(scope: Scope): boolean {
    return this.#mayEnter('operation', scope)
  }

  /** Runs `work` as an operation of the run: from when it may start (G1, G4) until it settles. */
  during<T>(scope: Scope, work: () => Promise<T> | T): Promise<T> {
    return this.#inside('operation', scope, work)
  }

  /** The same for a park or a question (G3). */
  duringStop<T>(work: () => Promise<T> | T): Promise<T> {
    this.#stopsWanted++
    return this.#inside('stop', anywhere, work)
  }

  /** The same for the last command of a run, which waits only while the gate is closed. */
  duringLast<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#inside('last', anywhere, work)
  }

  /**
   * Runs several operations one after the other as if they were one: each by a call of the function that `work` gets.
   * Only `interrupt_immediate` may stop between two of them. A pause does not wait for a batch that has begun nothing.
   */
  async duringBatch<T>(scope: Scope, work: (during: During) => Promise<T>): Promise<T> {
    let inside = false
    let isBegun = false
    const leave = (): void => {
      if (inside) this.#leave()
      inside = false
    }
    const leaveForInterrupt = (): void => {
      if (this.#mode === 'interrupt_immediate') leave()
    }
    try {
      return await work(async (one) => {
        leaveForInterrupt()
        if (!inside) await this.#admit('operation', scope)
        inside = true
        try {
          await this.#run.slot.take()
          const done = await one()
          if (done === notBegun && !isBegun) leave()
          else isBegun = true
          return done
        } finally {
          leaveForInterrupt()
        }
      })
    } finally {
      leave()
    }
  }

  /** No park and no question starts before `work` settles, and what is blocked by one may start. */
  async withoutStops<T>(work: () => Promise<T>): Promise<T> {
    this.#refusesStops = true
    this.review()
    try {
      return await work()
    } finally {
      this.#refusesStops = false
    }
  }

  /** What was begun inside an operation goes on after it. The run is at no boundary until `landed` resolves. */
  whileInFlight(landed: Promise<void>): void {
    this.#inFlight++
    void landed.then(() => this.#leave())
  }

  /** The run waits for something outside, in no operation, until `work` settles. */
  async whileWaiting<T>(work: () => Promise<T>): Promise<T> {
    this.#outside++
    this.#run.checkBoundary()
    try {
      return await work()
    } finally {
      this.#outside--
    }
  }

  /** The code waits for something that this run never gets. */
  waitForever(): void {
    this.#endless++
    this.#outside++
    this.#run.checkBoundary()
  }

  /** A turn is open until `work` settles. */
  async duringTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns++
    try {
      return await work()
    } finally {
      this.#turns--
      this.#run.checkBoundary()
    }
  }

  pause(wanted: PauseMode): void {
    this.#mode = wanted
    this.review()
    this.#run.checkBoundary()
  }

  /** The pause, park or question is durable. No operation starts until `reopen`. */
  close(): void {
    this.#closed = true
    this.#mode = undefined
  }

  /** @param wanted the mode of a pause that is still in progress */
  reopen(wanted?: PauseMode): void {
    this.#closed = false
    this.#mode = wanted
    this.review()
    if (wanted !== undefined) this.#run.checkBoundary()
  }

  atBoundary(wanted: PauseMode): boolean {
    if (this.#inFlight > 0) return false
    if (wanted === 'interrupt_immediate') return true
    if (wanted === 'finish_step') return this.waiting() > 0
    // A question inside the turn is asked only after the resume, so the turn cannot end before.
    const noTurn = this.#turns === 0 || this.#stopsWanted > 0
    return noTurn && this.#run.withheld() === 0 && this.#blocked.size + this.#outside > 0
  }

  waiting(): number {
    return this.#blocked.size + this.#outside + this.#run.withheld() + this.#run.unsettled()
  }

  /** Whether the run has at most this many outside waits and this many operations in flight. */
  waitsOnlyFor(outside: number, inFlight: number): boolean {
    return this.#outside - this.#endless === outside && this.#inFlight === inFlight
  }

  /** Starts the blocked operations that may start now. */
  review(): void {
    for (const one of this.#blocked) {
      if (!this.#mayStart(one.kind, one.scope)) continue
      this.#blocked.delete(one)
      this.#start(one.kind)
      one.started()
    }
  }

  async #inside<T>(kind: Kind, scope: Scope, work: () => Promise<T> | T): Promise<T> {
    const started = this.#admit(kind, scope)
    if (started !== undefined) {
      await started
      await this.#run.pace.next()
    }
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    this.#inFlight--
    this.#stop = false
    this.review()
    this.#run.checkBoundary()
  }

  #admit(kind: Kind, scope: Scope): Promise<void> | undefined {
    if (this.#mayStart(kind, scope)) {
      this.#start(kind)
      return undefined
    }
    return new Promise((started) => {
      this.#blocked.add({ kind, scope, started })
      this.#run.checkBoundary()
    })
  }

  #mayStart(kind: Kind, scope: Scope): boolean {
    return this.#mayEnter(kind, scope) && this.#run.slot.ask()
  }

  #mayEnter(kind: Kind, { turn, inside }: Scope): boolean {
    if (this.#closed) return false
    if (kind === 'last') return true
    if (kind === 'stop') {
      if (this.#refusesStops || this.#stop) return false
      return this.#mode === undefined && this.#inFlight === 0
    }
    if (inside !== undefined) return true
    if (this.#stop || (this.#stopsWanted > 0 && !this.#refusesStops)) return false
    if (this.#mode === undefined) return true
    return this.#mode === 'wait_for_completion' && turn !== undefined
  }

  #start(kind: Kind): void {
    this.#inFlight++
    if (kind !== 'stop') return
    this.#stopsWanted--
    this.#stop = true
  }
}

/** After a wait of this length the deaths of processes are forgotten (W4). */
const FORGET_DEATHS_MS = 60_000

/** The slot of a run (W1 to W4). */
export class RunSlot {
  readonly #core: RunCore
  #held = true
  #taking: Promise<void> | undefined
  #stopWaiting: (() => void) | undefined

  constructor(core: RunCore) {
    this.#core = core
  }

  giveBack(): void {
    const { host, task } = this.#core
    if (!this.#held || !host.releaseSlot(task.id)) return
    this.#held = false
    if (task.deaths === 0) return
    this.#stopWaiting = host.clock.after(FORGET_DEATHS_MS, () => this.#forgetDeaths())
  }

  /** Whether the run has a slot. Asks for one if it has none. */
  ask(): boolean {
    void this.take()
    return this.#held
  }

  /**
   * Resolves when the run has a slot, or was stopped. Undefined: it has one. A stopped run gets its slot with its next
   * token.
   */
  take(): Promise<void> | undefined {
    if (this.#held) return undefined
    const { host, taskId } = this.#core
    this.#taking ??= host.reacquireSlot(taskId).then(() => {
      this.#taking = undefined
      this.grant()
    })
    return this.#taking
  }

  /** The run has a slot: it was asked for, or came with a new token. */
  grant(): void {
    if (this.#held) return
    this.#held = true
    this.#stopWaiting?.()
    if (this.#core.dead) return
    this.#core.releaser.review()
    this.#core.gate.review()
  }

  /** The run is over. */
  close(): void {
    this.#stopWaiting?.()
  }

  /** Written after a takeover alone. If it cannot be written, one death too many is counted (W4). */
  #forgetDeaths(): void {
    const { host, taskId, token } = this.#core
    host
      .commit(taskId, () => ({ type: 'wait', run: token }))
      .catch((error: unknown) => {
        if (!this.#core.dead) host.log('warn', 'a wait could not be recorded', { taskId, error })
      })
  }
}
