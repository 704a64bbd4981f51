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

export interface Line {
  /** Durable when it resolves; never settles when the run is dead. */
  readonly write: (act: RunAct) => Promise<Committed>
  /** How many the ledger has not looked at yet. */
  readonly unwritten: () => number
}

interface Item {
  readonly act: RunAct
  readonly resolve: (committed: Committed) => void
  readonly reject: (error: unknown) => void
  state: 'waiting' | 'handed in' | 'decided'
}

const RETRY_FIRST_MS = 100
const RETRY_MOST_MS = 10_000

export function createLine(deps: {
  readonly host: Pick<RunHost, 'commit' | 'clock' | 'log'>
  readonly taskId: string
  readonly token: () => string
  readonly dead: () => boolean
  /** The task is somebody else's now. */
  readonly lost: () => void
}): Line {
  const { host, taskId, token, dead, lost } = deps
  const items = new Set<Item>()
  let stalled = false
  let waitMs = RETRY_FIRST_MS

  function handIn(item: Item): void {
    item.state = 'handed in'
    const command = (): RunCommand => {
      item.state = 'decided'
      return { ...item.act, run: token() } as RunCommand
    }
    host.commit(taskId, command).then(
      (committed) => {
        items.delete(item)
        waitMs = RETRY_FIRST_MS
        if (!dead()) item.resolve(committed)
      },
      (error: unknown) => {
        if (!dead()) failed(item, error)
      },
    )
  }

  function failed(item: Item, error: unknown): void {
    if (isLullError(error, 'STALE_RUN') || isLullError(error, 'TASK_NOT_FOUND')) {
      lost()
    } else if (isLullError(error, 'STORE_UNAVAILABLE')) {
      item.state = 'waiting'
      stall(error.message)
    } else {
      items.delete(item)
      item.reject(error)
    }
  }

  function stall(why: string): void {
    if (stalled) return
    stalled = true
    host.log('error', 'a record could not be written; the task waits and tries again', {
      taskId,
      why,
    })
    host.clock.after(waitMs, () => {
      stalled = false
      if (dead()) return
      for (const item of items) if (item.state === 'waiting') handIn(item)
    })
    waitMs = Math.min(2 * waitMs, RETRY_MOST_MS)
  }

  return {
    write: (act) =>
      new Promise((resolve, reject) => {
        if (dead()) return
        const item: Item = { act, resolve, reject, state: 'waiting' }
        items.add(item)
        if (!stalled) handIn(item)
      }),
    unwritten: () => [...items].filter((item) => item.state !== 'decided').length,
  }
}
