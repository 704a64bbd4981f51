/**
 * Decides when an operation of a run may start, and when the run stands still enough for a pause to commit.
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
 */
import type { PauseMode } from '../../core/suspension.ts'

export interface Scope {
  /** The turn the operation is in, if any. */
  readonly turn?: object | undefined
  /** The operation whose function called it, if any. */
  readonly inside?: object | undefined
}

interface Blocked {
  readonly mayStart: () => boolean
  readonly start: () => void
}

export interface Gate {
  /** Resolves when the operation may start; it is in flight from then on. Undefined: it may at once. */
  enter(scope: Scope): Promise<void> | undefined
  /** For a park or a question. */
  enterAlone(): Promise<void> | undefined
  /** The last command of a run; waits only while paused. */
  enterLast(): Promise<void> | undefined
  leave(): void
  /** The run waits for something outside, in no operation. */
  wait(): () => void

  openTurn(): void
  closeTurn(): void

  pause(mode: PauseMode): void
  /** The pause is durable, or a park or question is: nothing moves until `reopen`. */
  close(): void
  /** With a mode, a pause is still under way. */
  reopen(mode?: PauseMode): void
  readonly atBoundary: (mode: PauseMode) => boolean
  readonly inFlight: () => number
  readonly waiting: () => number
  /** The run does nothing but wait for this many things outside; no record of it is being written either. */
  readonly waitsOnlyFor: (outside: number) => boolean
  readonly pausing: () => PauseMode | undefined
}

export interface GateDeps {
  /** How many results wait in the releaser. */
  readonly withheld: () => number
  /** How many operations have no result yet: blocked here, in flight, or with a record that is being written. */
  readonly unsettled: () => number
  /** Called whenever the run may have reached a boundary. */
  readonly moved: () => void
}

export function createGate({ withheld, unsettled, moved }: GateDeps): Gate {
  let inFlight = 0
  let outside = 0
  let turns = 0
  let alone = false
  let aloneWanted = 0
  let mode: PauseMode | undefined
  let closed = false
  let blocked: Blocked[] = []

  const mayStart = ({ turn, inside }: Scope): boolean => {
    if (closed) return false
    if (inside !== undefined) return true
    if (alone || aloneWanted > 0) return false
    if (mode === undefined) return true
    return mode === 'wait_for_completion' && turn !== undefined
  }
  const waiting = (): number => blocked.length + outside + withheld() + unsettled()
  const mayStartAlone = (): boolean => !closed && mode === undefined && !alone && inFlight === 0

  function admit(may: () => boolean, admitted: () => void): Promise<void> | undefined {
    if (may()) {
      admitted()
      return undefined
    }
    return new Promise((resolve) => {
      const start = (): void => {
        admitted()
        resolve()
      }
      blocked.push({ mayStart: may, start })
      moved()
    })
  }

  function review(): void {
    for (const one of [...blocked]) {
      if (!one.mayStart()) continue
      blocked = blocked.filter((other) => other !== one)
      one.start()
    }
  }

  return {
    enter: (scope) =>
      admit(
        () => mayStart(scope),
        () => {
          inFlight++
        },
      ),
    enterAlone() {
      aloneWanted++
      return admit(mayStartAlone, () => {
        aloneWanted--
        alone = true
        inFlight++
      })
    },
    enterLast: () =>
      admit(
        () => !closed,
        () => {
          inFlight++
        },
      ),
    leave() {
      inFlight--
      alone = false
      review()
      moved()
    },
    wait() {
      outside++
      moved()
      let over = false
      return () => {
        if (!over) outside--
        over = true
      }
    },
    openTurn() {
      turns++
    },
    closeTurn() {
      turns--
      moved()
    },
    pause(wanted) {
      mode = wanted
      review()
      moved()
    },
    close() {
      closed = true
      mode = undefined
    },
    reopen(wanted) {
      closed = false
      mode = wanted
      review()
      if (wanted !== undefined) moved()
    },
    atBoundary(wanted) {
      if (inFlight > 0) return false
      if (wanted === 'interrupt_immediate') return true
      if (wanted === 'finish_step') return waiting() > 0
      // A question inside the turn can only be asked after the resume: the turn gets no further.
      return (turns === 0 || aloneWanted > 0) && withheld() === 0 && blocked.length + outside > 0
    },
    inFlight: () => inFlight,
    waiting,
    waitsOnlyFor: (count) =>
      outside === count && unsettled() === count && inFlight + blocked.length + withheld() === 0,
    pausing: () => mode,
  }
}
