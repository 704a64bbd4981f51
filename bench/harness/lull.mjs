/** Lull as a program would embed it, from the build: what is measured is what ships. */
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** `LULL_BENCH_DIST` measures another build, say the one before a change. */
export const dist =
  process.env.LULL_BENCH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url))

export const load = (file) => import(pathToFileURL(join(dist, file)).href)

/** Whom the server takes everybody for, so that it finds what was filled in. */
export const caller = { tenant: 'default', principal: 'anonymous' }

/**
 * An engine on the embedded store, started.
 * @param observe may wrap the store, say to count
 */
export async function openEngine({ path, agents, options, durability = 'full', observe }) {
  const opened = await openStore(path, durability)
  return openEngineOn(observe === undefined ? opened : observe(opened), { agents, options })
}

/** An engine on a store that is open, started. */
export async function openEngineOn(store, { agents, options }) {
  const { createEngine } = await load('engine/engine.js')
  const world = await system()
  const engine = createEngine({ store, agents, ...world, options })
  await engine.start()
  return {
    engine,
    store,
    async close() {
      await engine.drain({ timeoutMs: 1_000 })
      await store.close()
    },
  }
}

export async function openStore(path, durability = 'full') {
  const { createSqliteStore } = await load('stores/sqlite/sqlite-store.js')
  return createSqliteStore({ path, durability })
}

/** Clock, ids, signer, log and memory as the server has them; the log speaks up only when something fails. */
export async function system() {
  const [{ systemClock }, { createIds }, { createLog }, { systemMemory }, { createSigner }] =
    await Promise.all(
      ['clock', 'ids', 'log', 'memory', 'signer'].map((file) => load(`server/system/${file}.js`)),
    )
  return {
    clock: systemClock,
    ids: createIds(),
    log: createLog((line) => process.stderr.write(`${line}\n`), 'error'),
    memory: systemMemory,
    signer: createSigner(Buffer.alloc(32, 7)),
  }
}

/** A message of about 300 bytes as JSON, the size of a short request to an agent. */
export function message(ids, text = 'Book the first flight to Helsinki on Friday, window seat.') {
  return { messageId: ids.uuid(), role: 'ROLE_USER', parts: [{ text }] }
}
