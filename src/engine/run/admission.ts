/**
 * Whether an operation that is not recorded may start. Three questions are asked before it passes the gate:
 *
 * - Does it fit the journal? This is the rule of `replay/unclaimed.ts`, by the place of the run's code (`CodePlace`). The
 *   place is the number of the record whose result the code got last. Each scope has its own place, because branches run
 *   concurrently. New operations of a rebuilt run wait here until they may start.
 * - Do the budgets of the task allow it (K1 of `policies/check-budgets.ts`)?
 * - May this process execute a function of the author now (C3 and C8 of `cluster/membership.ts`)?
 */

import { isLullError } from '../../core/errors.ts'
import { type During, notBegun, type Scope } from './gate.ts'
import type { Operation, OperationScope } from './operation-runner.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles } from './run-writer.ts'

/** The place of the code when it called an operation. */
export interface CallSite {
  /** The number of the record whose result the code got last. */
  readonly place: number
  /** The operation may have been in flight when a run of the task died. */
  readonly mayHaveBegun: boolean
}

/**
 * How long a run must stand still before its code counts as changed. A branch may wait for something that is not
 * journaled (a timer, an import) before it calls a recorded operation.
 */
export const STILL_MS = 1_000

interface Waiting {
  readonly key: string
  readonly place: number
}

/** A class: one instance per run is cheaper than one closure per method and run. Its collections are created when needed. */
export class CodePlace {
  readonly #core: RunCore
  /** The agent allows new operations at any place (`newSteps: 'run'`). */
  readonly #allowsNew: boolean
  /** Set while the code reacts to a result: the scope and the place. */
  #reaction: { readonly prefix: string; readonly place: number } | undefined
  /** The highest place of each scope. */
  #places: Map<string, number> | undefined
  /** New operations that the code calls before recorded ones. */
  #inserted: Set<string> | undefined
  #newestResult = 0
  /** New operations that may not start yet. */
  #waiting: Set<Waiting> | undefined
  /** How often the code called an operation or got a result. */
  #moves = 0
  #cancel: (() => void) | undefined

  constructor(core: RunCore, allowsNew: boolean) {
    this.#core = core
    this.#allowsNew = allowsNew
  }

  /** The place of the code of that scope now. */
  callSite({ prefix, place = 0, mayHaveRun }: OperationScope): CallSite {
    const { diedAt } = this.#core.journal
    const isReaction = this.#reaction?.prefix === prefix
    return {
      place: isReaction
        ? (this.#reaction?.place ?? 0)
        : Math.max(place, this.#places?.get(prefix) ?? 0),
      mayHaveBegun: mayHaveRun ?? (diedAt > 0 && this.#newestResult <= diedAt),
    }
  }

  /** Resolves when an operation that is not recorded may run. Undefined if it may run at once. */
  admit(
    { key, isTaskOnly, added }: Pick<Operation<unknown>, 'key' | 'isTaskOnly' | 'added'>,
    { place }: CallSite,
    { inside }: OperationScope,
  ): Promise<void> | undefined {
    const { journal } = this.#core
    if (!journal.isReplayed || journal.unclaimed.behind(place, key) === undefined) return undefined
    if (!(isTaskOnly || added || this.#allowsNew || journal.knows(key))) {
      return this.#wait({ key, place }, inside?.signal)
    }
    this.#inserted ??= new Set()
    this.#inserted.add(key)
    return undefined
  }

  isInserted(key: string): boolean {
    return this.#inserted?.has(key) ?? false
  }

  /** The code calls the operation of that key. */
  noteCall(key: string): void {
    const { journal } = this.#core
    if (journal.isReplayed) journal.unclaimed.noteCall(key)
    this.#moves++
  }

  /** The code of that scope gets a result. */
  noteResult({ prefix, inside }: OperationScope, seq: number, place: number): void {
    if (inside === undefined && seq > this.#newestResult) this.#newestResult = seq
    const { journal } = this.#core
    if (!journal.isReplayed || journal.unclaimed.isEmpty) return
    this.#reaction = { prefix, place }
    this.#moves++
    this.#places ??= new Map()
    if (place > (this.#places.get(prefix) ?? 0)) this.#places.set(prefix, place)
  }

  /** The code has reacted to the last result. */
  endReaction(): void {
    this.#reaction = undefined
  }

  /** The run is over. */
  close(): void {
    this.#waiting?.clear()
    this.#cancel?.()
  }

  /** Rejects when the step that the operation is in is aborted, so that the step can end. */
  #wait(one: Waiting, outer: AbortSignal | undefined): Promise<void> {
    this.#waiting ??= new Set()
    const waiting = this.#waiting
    return new Promise((resolve, reject) => {
      const start = (): void => {
        if (waiting.delete(one)) resolve()
      }
      waiting.add(one)
      outer?.addEventListener('abort', () => {
        waiting.delete(one)
        reject(outer.reason)
      })
      this.#core.journal.unclaimed.whenNothingBehind({ ...one, start })
      this.#watch()
    })
  }

  #watch(): void {
    if (this.#cancel !== undefined) return
    const before = this.#moves
    this.#cancel = this.#core.host.clock.after(STILL_MS, () => {
      this.#cancel = undefined
      this.#look(before)
    })
  }

  #look(before: number): void {
    const waiting = [...(this.#waiting ?? [])]
    if (waiting.length === 0) return
    if (this.#moves !== before || !this.#core.isStill()) {
      this.#watch()
      return
    }
    const { unclaimed } = this.#core.journal
    this.#core.policy.newOperations(
      waiting.map(({ key, place }) => ({ key, unclaimed: unclaimed.behind(place, key) ?? '' })),
    )
  }
}

/**
 * Resolves when an operation that is not recorded may run. Undefined if it may run at once.
 * @param withinBudget asks whether the budgets of the task allow it to go on
 */
export function admit(
  core: RunCore,
  operation: Pick<Operation<unknown>, 'key' | 'isTaskOnly' | 'added'>,
  site: CallSite,
  withinBudget: typeof withinBudgets = withinBudgets,
): Promise<void> | undefined {
  const { scope } = core
  // All that wait for the same recorded operation may run at the same time.
  const admitted = core.place.admit(operation, site, scope)?.then(() => core.pace.next())
  // Code inside of an operation cannot be stopped, so its operations are not checked.
  if (operation.isTaskOnly || scope.inside !== undefined) return admitted
  if (admitted === undefined) return withinBudget(core, scope)
  // The place can wait for days, so the budgets are asked after it.
  return admitted.then(() => withinBudget(core, scope))
}

const RETRY_MS = 1_000

/**
 * How a function of the author passes the gate: it begins only when `mayExecute` says so. Where it has to wait, it leaves
 * the gate and comes back, so that what the process reads meanwhile, for example a hold, keeps it there.
 * @param calls whether the work calls such a function
 */
export function whenAllowed(
  core: RunCore,
  scope: OperationScope,
  key: string,
  during: During,
  calls: () => boolean = () => true,
): During {
  return async (work) => {
    for (;;) {
      let allowed: Promise<void> | undefined
      const done = await during(async () => {
        if (!calls()) return work()
        // Values that the function may have seen (now, uuid, random) are durable before it acts on them.
        await core.flush()
        // The task was canceled or lost while the function waited.
        if (core.dead) return neverSettles()
        allowed = core.host.mayExecute(key)
        return allowed === undefined ? work() : notBegun
      })
      if (done !== notBegun) return done
      await core.gate.whileWaiting(async () => allowed)
      if (core.dead) return neverSettles()
      // The gate admits work inside a step that was interrupted meanwhile.
      scope.inside?.signal.throwIfAborted()
      // The process may have read new budgets, too.
      if (scope.inside === undefined) await checkBudgets(core)
    }
  }
}

/** Asks before an operation. Resolves when the operation may start. Undefined when no budget covers the task. */
function withinBudgets(core: RunCore, scope: Scope): Promise<void> | undefined {
  const checked = checkBudgets(core)
  return checked?.then(() => goOn(core, scope))
}

/** A task that was stopped is asked again when it goes on, because it may have another budget by then. */
async function goOn(core: RunCore, scope: Scope): Promise<void> {
  // Each round waits at a gate that is shut. Inside a turn the gate can admit an operation while a pause is under way.
  while (!core.gate.admits(scope)) {
    await core.gate.during(scope, () => undefined)
    await checkBudgets(core)
  }
}

/** Stops the task if a budget is used up. Undefined when no budget covers the task. */
export function checkBudgets(core: RunCore): Promise<void> | undefined {
  return core.host.checkBudgets(core.task)?.catch(async (error: unknown) => {
    if (core.dead) return neverSettles()
    await waitBeforeRetry(core, error)
    return core.dead ? neverSettles() : checkBudgets(core)
  })
}

/**
 * Repeats what the code of a run needs from the store until the store answers. Any other error is thrown. Never settles
 * after the run was discarded.
 */
export async function whileStoreFails<T>(core: RunCore, act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      await waitBeforeRetry(core, error)
      if (core.dead) return neverSettles()
    }
  }
}

/** @throws the error, unless the store is unavailable */
async function waitBeforeRetry({ host }: RunCore, error: unknown): Promise<void> {
  if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
  await new Promise<void>((resolve) => {
    host.clock.after(RETRY_MS, resolve)
  })
}

/**
 * The result of an agent's function (`digest`, `compact`), or a default value if the function fails. The failure is
 * logged and not thrown. The caller records the result, so a rebuilt run does not call the function again.
 */
export async function orDefault<T>(
  { host, taskId }: Pick<RunCore, 'host' | 'taskId'>,
  name: 'digest' | 'compact',
  make: () => Promise<T>,
  makeDefault: () => Promise<T> | T,
): Promise<T> {
  try {
    return await make()
  } catch (error) {
    host.log('error', `the agent's ${name} failed; the default takes its place`, { taskId, error })
    return makeDefault()
  }
}
