/**
 * Writes the acts of a run in the order of the calls. Acts go to the ledger at once, so that they share a commit. When
 * the store cannot write, the acts that failed wait and are tried again together, and no later act overtakes them.
 */
import type { RunCommand } from '../../core/commands.ts'
import { isLullError } from '../../core/errors.ts'
import type { Committed } from '../ledger/ledger.ts'
import type { RunCore } from './run-core.ts'

/** Omits `run` from each command of the union: the token is filled in when it is decided. */
type Tokenless<C> = C extends { readonly run: string } ? Omit<C, 'run'> : never
export type RunAct = Tokenless<RunCommand>

const RETRY_FIRST_MS = 100
const RETRY_MOST_MS = 10_000
/**
 * The code of a dead run waits for this. Each call makes a new promise, because a shared one would keep all its waiters
 * in memory.
 */
export const neverSettles = (): Promise<never> => new Promise(() => undefined)

export class RunWriter {
  readonly #core: RunCore
  readonly #items: Item[] = []
  #stalled = false
  #waitMs = RETRY_FIRST_MS
  /** Acts that are written with the next one. */
  #pending: RunAct[] = []
  /** The write of the acts that were handed in last. */
  #handedIn: Promise<unknown> | undefined

  constructor(core: RunCore) {
    this.#core = core
  }

  /** Durable when it resolves. Never settles when the run is dead. */
  write(act: RunAct): Promise<Committed> {
    this.#handInPending()
    return this.#write(act)
  }

  /** Written with the next act, or by `flush`. */
  writeWithNext(act: RunAct): void {
    this.#pending.push(act)
  }

  /**
   * Resolves when the pending acts are durable, including those of other branches, whose results the code may have
   * seen.
   */
  async flush(): Promise<void> {
    this.#handInPending()
    await this.#handedIn
  }

  #handInPending(): void {
    if (this.#pending.length === 0) return
    const acts = this.#pending
    this.#pending = []
    for (const act of acts) this.#handedIn = this.#write(act)
  }

  #write(act: RunAct): Promise<Committed> {
    if (this.#core.dead) return neverSettles()
    const item = new Item(act, this.#core)
    this.#items.push(item)
    return this.#stalled ? this.#wait(item) : this.#handIn(item)
  }

  /** How many acts the ledger has not decided yet. */
  unwritten(): number {
    const undecided = this.#items.filter((item) => item.state !== 'decided')
    return this.#pending.length + undecided.length
  }

  /** Hands in what is pending. Returns whether everything is durable. The run may wait (`mayWait`) when it is. */
  settle(): boolean {
    this.#handInPending()
    return this.#items.length === 0
  }

  #handIn(item: Item): Promise<Committed> {
    const { host, taskId } = this.#core
    item.state = 'handed in'
    return host.commit(taskId, item.decide).then(
      (committed) => {
        this.#remove(item)
        this.#waitMs = RETRY_FIRST_MS
        return this.#core.dead ? neverSettles() : committed
      },
      (error: unknown) => (this.#core.dead ? neverSettles() : this.#failed(item, error)),
    )
  }

  /** Waits until the store can write again. */
  #wait(item: Item): Promise<Committed> {
    item.state = 'waiting'
    // On a further retry the caller already holds the first promise.
    if (item.retry !== undefined) return neverSettles()
    return new Promise((resolve, reject) => {
      item.retry = () => this.#handIn(item).then(resolve, reject)
    })
  }

  #remove(item: Item): void {
    this.#items.splice(this.#items.indexOf(item), 1)
    if (this.#items.length === 0) this.#core.run.mayWait()
  }

  #failed(item: Item, error: unknown): Promise<Committed> {
    if (isLullError(error, 'STALE_RUN') || isLullError(error, 'TASK_NOT_FOUND')) {
      const { host, taskId } = this.#core
      host.log('info', 'a write was refused: its run does not have the task', { taskId })
      this.#core.run.lost()
      return neverSettles()
    }
    if (isLullError(error, 'STORE_UNAVAILABLE')) {
      this.#stall(error.message)
      return this.#wait(item)
    }
    this.#remove(item)
    throw error
  }

  #stall(why: string): void {
    if (this.#stalled) return
    this.#stalled = true
    const { host, taskId } = this.#core
    host.log('error', 'a record could not be written; the task waits and tries again', {
      taskId,
      why,
    })
    host.clock.after(this.#waitMs, () => {
      this.#stalled = false
      if (this.#core.dead) return
      for (const item of this.#items) if (item.state === 'waiting') item.retry?.()
    })
    this.#waitMs = Math.min(2 * this.#waitMs, RETRY_MOST_MS)
  }
}

class Item {
  #act: RunAct
  readonly #core: RunCore
  state: 'waiting' | 'handed in' | 'decided' = 'waiting'
  /** Set when the item has to wait. */
  retry: (() => void) | undefined

  constructor(act: RunAct, core: RunCore) {
    this.#act = act
    this.#core = core
  }

  readonly decide = (): RunCommand => {
    this.state = 'decided'
    this.#act = withKnownEvents(this.#act, this.#core.host.lastEventPos(this.#core.task.tenant))
    const command = this.#act as RunAct & { run: string }
    // Set at the decision, because an act may be retried after the run got a new token.
    command.run = this.#core.token
    return command as RunCommand
  }
}

/** The store may have lost events since the park was made. Then the park starts from the newest event that is left (V5 of `events.ts`). */
function withKnownEvents(act: RunAct, lastEventPos: number): RunAct {
  if (act.type !== 'park' || act.eventsNow <= lastEventPos) return act
  return { ...act, eventsNow: lastEventPos }
}
