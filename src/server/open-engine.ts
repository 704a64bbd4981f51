/** Opens an engine with the system clock, a store and a log, for programs without a server. */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLullError, LullError } from '../core/errors.ts'
import { describeError } from '../core/values/describe-error.ts'
import { type Duration, durationMs } from '../core/values/duration.ts'
import { printable } from '../core/values/printable.ts'
import type { Agent } from '../engine/author/agent.ts'
import type { EngineDeps } from '../engine/deps.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/options.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { hideAddress } from './http/address-file.ts'
import { createMeter } from './metrics/meter.ts'
import { metricsText } from './metrics/metrics-text.ts'
import { version } from './settings/version.ts'
import { chooseStore, openStore, type PostgresConfig, type StoreKind } from './store/open-store.ts'
import { measureStore, watchStore } from './store/watch-store.ts'
import { systemClock } from './system/clock.ts'
import { createIds } from './system/ids.ts'
import { createLog } from './system/log.ts'
import { systemMemory } from './system/memory.ts'
import type { SecretPlace } from './system/secrets.ts'
import { type GivenKeys, signerFor } from './system/signer.ts'
import { tracing } from './telemetry/tracing.ts'

export interface OpenEngineOptions {
  /** The agents of the engine. The first one is the default. */
  readonly agents: readonly Agent[]
  /** The data directory. It is created when it does not exist. Default `./.lull`. */
  readonly data?: string | undefined
  /**
   * A kind of store, or a store object, which is closed together with the engine. Default:
   * `sqlite`.
   */
  readonly store?: Store | StoreKind | undefined
  /** The PostgreSQL database that keeps tasks. */
  readonly postgres?: string | PostgresConfig | undefined
  /**
   * The key that signs receipts. Default: a key that is created once, in the data directory or the
   * database.
   */
  readonly receiptKey?: string | undefined
  /** Keys that signed receipts earlier. They only verify. */
  readonly formerReceiptKeys?: readonly string[] | undefined
  /**
   * Files with the public keys of other servers. They verify receipts of tasks that were imported
   * from there.
   */
  readonly trustedReceiptKeys?: readonly string[] | undefined
  /** Default: writes lines of JSON to stderr. */
  readonly log?: Log | undefined
  readonly options?: EngineSettings | undefined
}

export interface OpenEngine {
  readonly engine: Engine
  /** The dependencies of the engine, for adapters that need the same ids and store. The clock is that of the store. */
  readonly deps: EngineDeps
  /**
   * Metrics in the text format of Prometheus: for the tasks of one tenant, or for all tasks and
   * this process.
   */
  metrics(tenant?: string): Promise<string>
  /** Why only a restart of the process helps. Undefined while the store works. */
  lost(): string | undefined
  /** Accepts no new work and lets running turns reach a boundary, in bounded time. */
  drain(): Promise<void>
  /**
   * Lets running turns reach a boundary, in bounded time, then closes the store. Every task can
   * continue in the next process.
   */
  close(options?: { readonly drainMs?: Duration }): Promise<void>
}

/**
 * Opens an engine without a server. Its tasks are kept in the data directory, or in the store that is given.
 * @throws LullError `STORE_LOCKED` or `STORE_UNAVAILABLE`, with a sentence an operator can act on
 *
 * @example
 * ```ts
 * import { agent, openEngine } from 'lull'
 *
 * const echo = agent({ name: 'echo', description: 'Repeats', run: (task) => task.text })
 *
 * const { engine, close } = await openEngine({ agents: [echo], data: './.lull' })
 * const { tasks } = await engine.list({ tenant: 'default', principal: 'ann' }, {})
 * process.stdout.write(`${tasks.length} tasks\n`)
 * await close()
 * ```
 */
export async function openEngine(given: OpenEngineOptions): Promise<OpenEngine> {
  const { agents, data = './.lull', options = {} } = given
  let worker: (() => string) | undefined
  const log = withSource(given.log ?? createLog(toStderr), () => worker?.())
  const watch = watchStore(log, systemClock)
  const meter = createMeter()
  const store = measureStore(watch.watched(await chosenStore(given, data, watch.lose)), meter)
  try {
    // An address file is stale, because this process has the lock now.
    if (typeof given.store !== 'object') hideAddress(data)
    const deps: EngineDeps = {
      store,
      agents,
      clock: systemClock,
      ids: createIds(),
      signer: await signerIn({ data, store }, given),
      log,
      memory: systemMemory,
      meter,
      tracing,
      version,
      process: { host: hostname(), pid: process.pid },
      options,
    }
    const engine = createEngine(deps)
    if (store.cluster !== undefined) worker = engine.worker
    await engine.start()
    const isLost = (): boolean => watch.lost() !== undefined
    const metrics = (tenant?: string) => metricsText({ engine, store, meter }, tenant)
    const shared = { ...deps, clock: engine.clock }
    return {
      engine,
      deps: shared,
      metrics,
      lost: watch.lost,
      ...stopping(engine, store, log, isLost),
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Adds to each log line the trace that it belongs to and, in a cluster, the worker id of the
 * process.
 */
function withSource(log: Log, workerOf: () => string | undefined): Log {
  return (level, text, facts) => {
    const worker = workerOf()
    const span = tracing.current()
    if (worker === undefined && span === undefined) return log(level, text, facts)
    log(level, text, {
      ...(worker === undefined ? {} : { worker }),
      ...(span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }),
      ...facts,
    })
  }
}

async function chosenStore(
  { store, postgres }: OpenEngineOptions,
  data: string,
  lost: Parameters<typeof openStore>[1],
): Promise<Store> {
  return typeof store === 'object'
    ? store
    : openStore(chooseStore([{ store, postgres }], data), lost)
}

/**
 * The time that running turns may take to reach a boundary, and the time for the rest of the
 * shutdown.
 */
const DRAIN_MS = 10_000
const STOP_MS = 5_000

/**
 * Functions that drain and close. Both end in bounded time even if the store does not answer. A
 * second `close` returns the first promise.
 */
function stopping(
  engine: Engine,
  store: Store,
  log: Log,
  isLost: () => boolean,
): Pick<OpenEngine, 'drain' | 'close'> {
  async function drain(drainMs = DRAIN_MS): Promise<void> {
    // Nothing can be written to a lost store, so waiting for a boundary would be useless.
    const timeoutMs = isLost() ? 0 : drainMs
    const limit = new AbortController()
    const late = sleep(timeoutMs + STOP_MS, 'late', limit).catch(() => undefined)
    const ended = await Promise.race([engine.drain({ timeoutMs }), late])
    limit.abort()
    if (ended === 'late')
      log('error', 'the engine did not stop in time; tasks go on at the next start')
  }
  const letEnd = keepProcessAlive()
  let drained: Promise<void> | undefined
  let closed: Promise<void> | undefined
  /** The first call decides the time limit, because a server first drains and then closes. */
  function drainOnce(drainMs?: number): Promise<void> {
    drained ??= drain(drainMs)
    return drained
  }

  return {
    drain: () => drainOnce(),
    close({ drainMs } = {}) {
      closed ??= drainOnce(drainMs === undefined ? undefined : durationMs(drainMs, 'drainMs'))
        .finally(() => store.close())
        .finally(letEnd)
      return closed
    },
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * The timers of the engine do not keep the process alive, so a program without a server would end
 * while its tasks wait.
 */
function keepProcessAlive(): () => void {
  const timer = setInterval(() => undefined, LONGEST_TIMER_MS)
  return () => clearInterval(timer)
}

async function signerIn(place: SecretPlace, given: GivenKeys): Promise<EngineDeps['signer']> {
  try {
    return await signerFor(place, given)
  } catch (cause) {
    if (isLullError(cause)) throw cause
    const reason = describeError(cause).message
    const why = `the key for receipts cannot be kept in ${place.data} (${reason}); make it writable, or set LULL_RECEIPT_KEY`
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}

export const toStderr = (line: string): void => {
  process.stderr.write(`${printable(line)}\n`)
}
