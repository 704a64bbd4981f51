/** An engine with everything real behind it: the wall clock, the embedded store, a log. For programs without a server. */
import { describeError } from '../core/describe-error.ts'
import { isLullError, LullError } from '../core/errors.ts'
import type { Agent } from '../engine/agent.ts'
import type { EngineDeps } from '../engine/deps.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/options.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { hideAddress } from './address-file.ts'
import { systemClock } from './system/clock.ts'
import { createIds } from './system/ids.ts'
import { createLog } from './system/log.ts'
import { systemMemory } from './system/memory.ts'
import { createSigner, receiptKey } from './system/signer.ts'

export interface OpenEngineOptions {
  /** The first one is the default. */
  readonly agents: readonly Agent[]
  /** The data directory, made when it does not exist. Default `./.lull`. */
  readonly data?: string | undefined
  /** In place of the embedded store; it is closed with the engine. */
  readonly store?: Store | undefined
  /** Signs receipts. Default: a key made once, kept in the data directory. */
  readonly receiptKey?: string | undefined
  /** Default: lines of JSON on stderr. */
  readonly log?: Log | undefined
  readonly options?: Partial<EngineOptions> | undefined
}

export interface OpenEngine {
  readonly engine: Engine
  /** What it was made from, for adapters that need the same clock, ids and store. */
  readonly deps: EngineDeps
  /** Lets running turns reach a boundary (bounded), then closes the store. Every task can go on in the next process. */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** @throws LullError `STORE_LOCKED` or `STORE_UNAVAILABLE`, with a sentence an operator can act on */
export async function openEngine(given: OpenEngineOptions): Promise<OpenEngine> {
  const { agents, data = './.lull', options = {}, log = createLog(toStderr) } = given
  const store = given.store ?? (await createSqliteStore({ path: data }))
  try {
    // Whoever is said to be there had the lock before us.
    if (given.store === undefined) hideAddress(data)
    const deps: EngineDeps = {
      store,
      agents,
      clock: systemClock,
      ids: createIds(),
      signer: createSigner(keyFor(data, given.receiptKey)),
      log,
      memory: systemMemory,
      options,
    }
    const engine = createEngine(deps)
    await engine.start()
    return { engine, deps, close: once(engine, store) }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Closing twice is closing once. */
function once(engine: Engine, store: Store): OpenEngine['close'] {
  let closed: Promise<void> | undefined
  return ({ drainMs } = {}) => {
    closed ??= engine
      .drain(drainMs === undefined ? {} : { timeoutMs: drainMs })
      .finally(() => store.close())
    return closed
  }
}

function keyFor(data: string, given: string | undefined): Buffer {
  try {
    return receiptKey(data, given)
  } catch (cause) {
    if (isLullError(cause)) throw cause
    const reason = describeError(cause).message
    const why = `the key for receipts cannot be kept in ${data} (${reason}); make it writable, or set LULL_RECEIPT_KEY`
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}

export const toStderr = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
