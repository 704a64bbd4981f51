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

interface LineDeps {
  readonly host: Pick<RunHost, 'commit' | 'clock' | 'log'>
  readonly taskId: string
  readonly token: () => string
  readonly dead: () => boolean
  /** The task is somebody else's now. */
  readonly lost: () => void
}

const RETRY_FIRST_MS = 100
const RETRY_MOST_MS = 10_000

export class Line {
  readonly #deps: LineDeps
  readonly #items: Item[] = []
  #stalled = false
  #waitMs = RETRY_FIRST_MS

  constructor(deps: LineDeps) {
    this.#deps = deps
  }

  /** Durable when it resolves; never settles when the run is dead. */
  write(act: RunAct): Promise<Committed> {
    return new Promise((resolve, reject) => {
      if (this.#deps.dead()) return
      const item = new Item(act, this.#deps.token, resolve, reject)
      this.#items.push(item)
      if (!this.#stalled) this.#handIn(item)
    })
  }

  /** How many the ledger has not looked at yet. */
  unwritten(): number {
    return this.#items.filter((item) => item.state !== 'decided').length
  }

  #handIn(item: Item): void {
    const { host, taskId, dead } = this.#deps
    item.state = 'handed in'
    host.commit(taskId, item.decide).then(
      (committed) => {
        this.#remove(item)
        this.#waitMs = RETRY_FIRST_MS
        if (!dead()) item.resolve(committed)
      },
      (error: unknown) => {
        if (!dead()) this.#failed(item, error)
      },
    )
  }

  #remove(item: Item): void {
    this.#items.splice(this.#items.indexOf(item), 1)
  }

  #failed(item: Item, error: unknown): void {
    if (isLullError(error, 'STALE_RUN') || isLullError(error, 'TASK_NOT_FOUND')) {
      this.#deps.lost()
    } else if (isLullError(error, 'STORE_UNAVAILABLE')) {
      item.state = 'waiting'
      this.#stall(error.message)
    } else {
      this.#remove(item)
      item.reject(error)
    }
  }

  #stall(why: string): void {
    if (this.#stalled) return
    this.#stalled = true
    const { host, taskId, dead } = this.#deps
    host.log('error', 'a record could not be written; the task waits and tries again', {
      taskId,
      why,
    })
    host.clock.after(this.#waitMs, () => {
      this.#stalled = false
      if (dead()) return
      for (const item of this.#items) if (item.state === 'waiting') this.#handIn(item)
    })
    this.#waitMs = Math.min(2 * this.#waitMs, RETRY_MOST_MS)
  }
}

class Item {
  readonly #act: RunAct
  readonly #token: () => string
  readonly resolve: (committed: Committed) => void
  readonly reject: (error: unknown) => void
  state: 'waiting' | 'handed in' | 'decided' = 'waiting'

  constructor(act: RunAct, token: () => string, resolve: Item['resolve'], reject: Item['reject']) {
    this.#act = act
    this.#token = token
    this.resolve = resolve
    this.reject = reject
  }

  readonly decide = (): RunCommand => {
    this.state = 'decided'
    const command = this.#act as RunAct & { run: string }
    // That of the moment: it may be tried again in the name of another run.
    command.run = this.#token()
    return command as RunCommand
  }
}
