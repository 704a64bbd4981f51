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
import type { Task } from '../../core/task.ts'
import type { Committed } from '../ledger.ts'
import type { Ask } from '../providers/asking.ts'
import { createGate, type Gate, type Scope } from './gate.ts'
import type { RunHost } from './host.ts'
import type { Entry, Journal } from './journal.ts'
import { createLine, type RunAct } from './line.ts'
import { createReleaser, type Releaser } from './releaser.ts'

export interface Operation<T> {
  readonly key: string
  /** Compared with the recorded one: another means that the code has changed. */
  readonly fingerprint?: string
  /** The recorded result, or the recorded failure thrown again. Undefined: the entry is of another kind. */
  readonly replay: (entry: Entry) => { readonly value: T } | undefined
  readonly live: () => Promise<Finished<T>>
}

/** An operation whose record is durable. */
export interface Finished<T> {
  readonly seq: number
  readonly settle: () => T
}

export interface RunCore {
  readonly host: RunHost
  readonly gate: Gate
  readonly releaser: Releaser
  readonly journal: Journal
  readonly ask: Ask
  readonly task: () => Task
  /** The record of the last result that code outside of steps was handed. */
  readonly lastResult: () => number
  readonly scope: () => OperationScope
  /** @throws LullError `INVALID_INPUT` when called in one of these: nothing could go on then */
  notInside(...places: readonly ('step' | 'turn')[]): void
  /** Runs code so that the operations it calls know what they are in. */
  within<T>(scope: OperationScope, code: () => T): T
  /** The key of the next operation of that kind and name, counted within the current scope. */
  key(kind: string, name?: string): string
  /** The key the author chose, within the current scope. @throws LullError `INVALID_INPUT` when it was used before */
  chosenKey(kind: string, chosen: string): string
  /** Counts again from the beginning there: a step's function runs once more. */
  recount(prefix: string): void
  perform<T>(operation: Operation<T>): Promise<T>
  /** Durable before it resolves, in the order of the calls. Never settles when the run is dead. */
  persist(act: RunAct): Promise<Committed>
  /** How many acts the ledger has not looked at yet: what is decided meanwhile comes before them. */
  readonly unwritten: () => number
  /** A record that rides with the next act, and is durable before any step that could have seen its value. */
  later(act: RunAct): void
  /** Resolves when all that is durable, and the task itself. */
  flush(): Promise<void>
  /** Waits for the place of a record in the order of results. */
  released(seq: number): Promise<void>
  record(record: JournalRecord): Promise<Committed>
  /** `task.now()` and the like. */
  value<T extends Json>(kind: string, make: () => T): T
  /** The task was written to, by whomever. */
  follow(task: Task): void
  readonly dead: () => boolean
  /** Gives the run up: nothing of it settles any more. */
  die(): void
}

export interface OperationScope extends Scope {
  /** Keys inside a step are counted apart, because a recorded step does not run its function again. */
  readonly prefix: string
}

const top: OperationScope = { prefix: '' }
/** One for all runs: Node hands each of them on to every promise there is, and lets go of none. */
const scopes = new AsyncLocalStorage<{ readonly run: object; readonly scope: OperationScope }>()
/** What a dead run's code waits for. One for each: a shared one would keep everything that ever waited for it. */
const never = (): Promise<never> => new Promise(() => undefined)

export interface RunCoreDeps {
  readonly host: RunHost
  readonly journal: Journal
  readonly first: Task
  /** The task is not durable until the run has followed its first record. */
  readonly ahead: boolean
  readonly token: () => string
  /** The run may have reached a boundary. */
  readonly moved: () => void
  /** The code has done what there was to do with the last result. */
  readonly reacted: () => void
  readonly mismatch: (key: string) => void
  /** What the providers of the agent want the task to be reminded of. */
  readonly ask: Ask
  /** The task is somebody else's now. */
  readonly lost: () => void
}

export function createRunCore(deps: RunCoreDeps): RunCore {
  const { host, journal, first, token, moved, reacted, mismatch, ask, lost } = deps
  const self = {}
  const counts = new Map<string, number>()
  const pending: RunAct[] = []
  /** The last of what was pending. */
  let handedIn: Promise<unknown> | undefined
  /** Operations that were called and whose result is not in the releaser yet. */
  let unsettled = 0
  let dead = false
  let latest = first
  let lastResult = 0
  let durable = !deps.ahead
  const born: (() => void)[] = []
  const die = (): void => {
    dead = true
  }

  const line = createLine({
    host,
    taskId: first.id,
    token,
    dead: () => dead,
    lost: () => {
      die()
      lost()
    },
  })
  const releaser = createReleaser(host.clock.now, (ms) => {
    if (ms >= host.limits.blockMs) host.blocked(first.agent, first.id, ms)
    reacted()
  })
  const gate = createGate({
    withheld: releaser.size,
    unsettled: () => unsettled,
    moved: () => {
      if (!dead) moved()
    },
  })
  const scope = (): OperationScope => {
    const current = scopes.getStore()
    // A run that was started by a step of another one is not inside that step.
    return current?.run === self ? current.scope : top
  }

  function notInside(...places: readonly ('step' | 'turn')[]): void {
    const { inside, turn } = scope()
    const found = inside !== undefined ? 'step' : turn !== undefined ? 'turn' : undefined
    if (found === undefined || !places.includes(found)) return
    const problem = `this cannot be called inside a ${found}`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  function key(kind: string, name = ''): string {
    const stem = `${scope().prefix}${kind}:${name}`
    const occurrence = (counts.get(stem) ?? 0) + 1
    counts.set(stem, occurrence)
    return `${stem}#${occurrence}`
  }

  function chosenKey(kind: string, chosen: string): string {
    const made = `${scope().prefix}${kind}:${chosen}#key`
    if (counts.has(made)) {
      throw new LullError('INVALID_INPUT', { path: 'key', problem: `"${chosen}" was used before` })
    }
    counts.set(made, 1)
    return made
  }

  function recount(prefix: string): void {
    for (const stem of counts.keys()) if (stem.startsWith(prefix)) counts.delete(stem)
  }

  function perform<T>(operation: Operation<T>): Promise<T> {
    if (dead) return never()
    const entry = journal.get(operation.key)
    const promise = entry === undefined ? fresh(operation) : recorded(operation, entry)
    // An operation nobody awaits must not take the process down; its failure is in the log.
    promise.catch(() => undefined)
    return promise
  }

  function fresh<T>(operation: Operation<T>): Promise<T> {
    unsettled++
    return new Promise((resolve, reject) => {
      operation.live().then(
        ({ seq, settle }) => {
          unsettled--
          release(seq, () => resolve(settle()), reject)
        },
        (error: unknown) => {
          unsettled--
          if (!dead) reject(error)
        },
      )
    })
  }

  function recorded<T>(operation: Operation<T>, entry: Entry): Promise<T> {
    const { fingerprint } = operation
    const differs = entry.kind !== 'record' && entry.fingerprint !== fingerprint
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        const found = differs ? undefined : operation.replay(entry)
        if (found === undefined) mismatch(operation.key)
        else resolve(found.value)
      }
      release(entry.seq, answer, reject)
    })
  }

  function release(seq: number, settle: () => void, reject: (error: unknown) => void): void {
    if (dead) return
    const nested = scope().inside !== undefined
    const handOut = (): void => {
      if (dead) return
      journal.wakes.show(seq)
      if (!nested) lastResult = seq
      try {
        settle()
      } catch (error) {
        reject(error)
      }
    }
    releaser.push(seq, handOut, nested)
    // Withheld, it may be what a pause is waiting for.
    moved()
  }

  function persist(act: RunAct): Promise<Committed> {
    handInPending()
    return line.write(act)
  }

  /** Also waits for what another branch has handed in: the code may have seen it. */
  async function flush(): Promise<void> {
    handInPending()
    await handedIn
    if (!durable) await new Promise<void>((resolve) => born.push(resolve))
  }

  function handInPending(): void {
    for (const act of pending.splice(0)) handedIn = line.write(act)
  }

  function value<T extends Json>(kind: string, make: () => T): T {
    const valueKey = key(kind)
    const entry = journal.get(valueKey)
    if (entry?.kind === 'record' && entry.record.type === 'value') return entry.record.value as T
    const made = make()
    pending.push({ type: 'record', records: [{ type: 'value', key: valueKey, value: made }] })
    return made
  }

  return {
    host,
    gate,
    releaser,
    journal,
    ask,
    task: () => latest,
    lastResult: () => lastResult,
    scope,
    notInside,
    within: (inner, code) => scopes.run({ run: self, scope: inner }, code),
    key,
    chosenKey,
    recount,
    perform,
    persist,
    unwritten: line.unwritten,
    later: (act) => {
      pending.push(act)
    },
    flush,
    released: (seq) => new Promise((resolve, reject) => release(seq, resolve, reject)),
    record: (record) => persist({ type: 'record', records: [record], ...ask(record, latest) }),
    value,
    follow: (task) => {
      latest = task
      durable = true
      for (const resolve of born.splice(0)) resolve()
    },
    dead: () => dead,
    die,
  }
}
