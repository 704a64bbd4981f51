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
import type { EmbedOptions } from './embed.ts'

export interface Opened {
  readonly engine: Engine
  /** The adapter of the newest load. */
  readonly a2a: () => A2A
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

export function openOnce(options: EmbedOptions): {
  readonly ready: Promise<Opened>
  close(): Promise<void>
} {
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

  async function mount({ engine, deps }: OpenEngine): Promise<Opened> {
    if (known !== undefined) await engine.replaceAgents(options.agents satisfies readonly Agent[])
    const { store, clock, ids, log, tracing, meter } = deps
    const watched = { ...(tracing && { tracing }), ...(meter && { meter }) }
    const config = options.a2a === undefined ? {} : { config: options.a2a }
    const publicUrl = options.url.replace(/\/+$/, '')
    const keys = await signingKeys(options.a2a, options.data ?? DATA, store, clock.now)
    const common = { engine, store, clock, ids, log, publicUrl, ...watched }
    const a2a = createA2A({ ...common, ...config, ...keys })
    shared.a2a?.close()
    await a2a.start()
    shared.a2a = a2a
    return { engine, a2a: () => shared.a2a ?? a2a }
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
