/**
 * The engines that embedded handlers of this process have opened, by store. If a development server
 * loads a module again (hot reload), it must not open a second engine, because the data directory
 * is locked and tasks are running. The list is on `globalThis`, because a reloaded module has its
 * own module state.
 */
import { resolve } from 'node:path'
import { LullError } from '../../core/errors.ts'
import type { Agent } from '../../engine/author/agent.ts'
import type { Engine } from '../../engine/engine.ts'
import { type A2A, createA2A } from '../../protocols/a2a/index.ts'
import { type OpenEngine, openEngine } from '../open-engine.ts'
import { signingKeys } from '../system/signing-keys.ts'
import type { EmbedOptions, HttpOptions } from './embed.ts'
import { createOperations, type Operations } from './operations.ts'

export interface Opened {
  readonly engine: Engine
  /** The adapter of the newest load. */
  readonly a2a: () => A2A
  /** Made on use. */
  readonly operations: () => Operations
}

export interface OpenedOnce {
  readonly ready: Promise<Opened>
  close(): Promise<void>
}

/** The adapters for an engine that somebody else has opened and closes. */
export function mountOn(open: OpenEngine, options: HttpOptions): OpenedOnce {
  const mounted = createAdapter(open, options, DATA)
  return {
    ready: mounted.then((a2a) => ({
      engine: open.engine,
      a2a: () => a2a,
      operations: operationsOf(open, options.url),
    })),
    close: async () => (await mounted).close(),
  }
}

async function createAdapter(
  { engine, deps }: OpenEngine,
  options: HttpOptions,
  data: string,
  /** Ends the adapter of an earlier load, when this one can be made. */
  replace: () => void = () => undefined,
): Promise<A2A> {
  const { store, clock, ids, log, tracing, meter } = deps
  const watched = { ...(tracing && { tracing }), ...(meter && { meter }) }
  const config = options.a2a === undefined ? {} : { config: options.a2a }
  const publicUrl = options.url.replace(/\/+$/, '')
  const keys = await signingKeys(options.a2a, data, store, clock.now)
  const common = { engine, store, clock, ids, log, publicUrl, ...watched }
  const a2a = createA2A({ ...common, ...config, ...keys })
  replace()
  await a2a.start()
  return a2a
}

function operationsOf(open: OpenEngine, url: string): () => Operations {
  let made: Operations | undefined
  return () => {
    made ??= createOperations(open, url, new URL(url).pathname.replace(/\/+$/, ''))
    return made
  }
}

interface Shared {
  readonly open: Promise<OpenEngine>
  a2a: A2A | undefined
  /** The last reload, because reloads run one after the other. */
  last: Promise<unknown>
}

const DATA = './.lull'
const KEY = Symbol.for('lull.embedded-engines')

function sharedEngines(): Map<unknown, Shared> {
  const holder = globalThis as { [KEY]?: Map<unknown, Shared> }
  holder[KEY] ??= new Map()
  return holder[KEY]
}

/** `next build` loads the modules of routes too, but must not run tasks. */
export const isNextBuild = (): boolean => process.env['NEXT_PHASE'] === 'phase-production-build'

export function openOnce(options: EmbedOptions): OpenedOnce {
  if (isNextBuild()) {
    const why = 'no engine is opened during next build'
    const ready = Promise.reject(new LullError('STORE_UNAVAILABLE', { why }))
    return { ready, close: async () => undefined }
  }
  const engines = sharedEngines()
  const place = placeOf(options)
  const known = engines.get(place)
  const shared = known ?? { open: openEngine(options), a2a: undefined, last: Promise.resolve() }
  engines.set(place, shared)

  async function mount(open: OpenEngine): Promise<Opened> {
    const { engine } = open
    if (known !== undefined) await engine.replaceAgents(options.agents satisfies readonly Agent[])
    const a2a = await createAdapter(open, options, options.data ?? DATA, () => shared.a2a?.close())
    shared.a2a = a2a
    const operations = operationsOf(open, options.url)
    return { engine, a2a: () => shared.a2a ?? a2a, operations }
  }

  /**
   * Opening failed: removes the engine from the list and closes its store, so that the next call
   * opens the store again.
   */
  async function giveUp(): Promise<void> {
    if (known !== undefined) return
    if (engines.get(place) === shared) engines.delete(place)
    const opened = await shared.open.catch(() => undefined)
    await opened?.close()
  }

  const ready = shared.last.then(async (): Promise<Opened> => {
    try {
      return await mount(await shared.open)
    } catch (error) {
      await giveUp()
      throw error
    }
  })
  shared.last = ready.catch(() => undefined)

  return {
    ready,
    async close() {
      if (engines.get(place) === shared) engines.delete(place)
      shared.a2a?.close()
      await (await shared.open).close()
    },
  }
}

/** The key by which two calls share an engine. A store object of the embedder is its own key. */
function placeOf({ store, postgres, data = DATA }: EmbedOptions): unknown {
  if (typeof store === 'object') return store
  if (postgres !== undefined) return JSON.stringify(postgres)
  return `${store ?? 'sqlite'} ${resolve(data)}`
}
