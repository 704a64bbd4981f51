/**
 * What a run writes, in the order it was handed in. Acts go to the ledger at once, so that they share a flush; when the
 * store cannot write, all that failed wait and are tried again together, and nothing overtakes them.
 */
import type { RunCommand } from '../../core/commands.ts'
import { isLullError } from '../../core/errors.ts'
import type { Committed } from '../ledger.ts'
import type { RunHost } from './host.ts'

/** Omits `run` from each command of the union: the token is filled in when it is decided. */
type Tokenless<C> = C extends { readonly run: string } ? Omit<C, 'run'> : never
export type RunAct = Tokenless<RunCommand>

/** The run whose line it is, as it stands. */
export interface Writing {
  readonly host: Pick<RunHost, 'commit' | 'clock' | 'log'>
  readonly taskId: string
  readonly token: string
  readonly dead: boolean
  /** The task is somebody else's now. */
  lost(): void
}

const RETRY_FIRST_MS = 100
const RETRY_MOST_MS = 10_000
/** What a dead run's code waits for. One for each: a shared one would keep everything that ever waited for it. */
export const neverSettles = (): Promise<never> => new Promise(() => undefined)

export class RunWriter {
  readonly #run: Writing
  readonly #items: Item[] = []
  #stalled = false
  #waitMs = RETRY_FIRST_MS

  constructor(run: Writing) {
    this.#run = run
  }

  /** Durable when it resolves; never settles when the run is dead. */
  write(act: RunAct): Promise<Committed> {
    if (this.#run.dead) return neverSettles()
    const item = new Item(act, this.#run)
    this.#items.push(item)
    return this.#stalled ? this.#wait(item) : this.#handIn(item)
  }

  /** How many the ledger has not looked at yet. */
  unwritten(): number {
    return this.#items.filter((item) => item.state !== 'decided').length
  }

  #handIn(item: Item): Promise<Committed> {
    const { host, taskId } = this.#run
    item.state = 'handed in'
    return host.commit(taskId, item.decide).then(
      (committed) => {
        this.#remove(item)
        this.#waitMs = RETRY_FIRST_MS
        return this.#run.dead ? neverSettles() : committed
      },
      (error: unknown) => (this.#run.dead ? neverSettles() : this.#failed(item, error)),
    )
  }

  /** For its turn after the store could not write. */
  #wait(item: Item): Promise<Committed> {
    item.state = 'waiting'
    // Not for the first time: whoever wrote it has the promise of then.
    if (item.retry !== undefined) return neverSettles()
    return new Promise((resolve, reject) => {
      item.retry = () => this.#handIn(item).then(resolve, reject)
    })
  }

  #remove(item: Item): void {
    this.#items.splice(this.#items.indexOf(item), 1)
  }

  #failed(item: Item, error: unknown): Promise<Committed> {
    if (isLullError(error, 'STALE_RUN') || isLullError(error, 'TASK_NOT_FOUND')) {
      this.#run.lost()
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
    const { host, taskId } = this.#run
    host.log('error', 'a record could not be written; the task waits and tries again', {
      taskId,
      why,
    })
    host.clock.after(this.#waitMs, () => {
      this.#stalled = false
      if (this.#run.dead) return
      for (const item of this.#items) if (item.state === 'waiting') item.retry?.()
    })
    this.#waitMs = Math.min(2 * this.#waitMs, RETRY_MOST_MS)
  }
}

class Item {
  readonly #act: RunAct
  readonly #run: Writing
  state: 'waiting' | 'handed in' | 'decided' = 'waiting'
  /** Set once it had to wait. */
  retry: (() => void) | undefined

  constructor(act: RunAct, run: Writing) {
    this.#act = act
    this.#run = run
  }

  readonly decide = (): RunCommand => {
    this.state = 'decided'
    const command = this.#act as RunAct & { run: string }
    // That of the moment: it may be tried again in the name of another run.
    command.run = this.#run.token
    return command as RunCommand
  }
}
