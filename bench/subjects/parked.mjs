/** An engine on a directory of parked tasks, and what its row asks of it. */

import { farTimeout } from '../harness/filled.mjs'
import { caller, openEngine, system } from '../harness/lull.mjs'
import { sleeper } from '../harness/parked.mjs'
import { serveSubject, settledMemory } from '../harness/subject.mjs'
import { elapsed } from '../harness/turns.mjs'

await serveSubject(async ({ path }) => {
  const agents = [await sleeper({ timeoutOf: farTimeout })]
  const started = performance.now()
  const { engine, store, close } = await openEngine({ path, agents })
  const ready = { startMs: elapsed(started), sinceProcessMs: performance.now() }
  const { ids } = await system()
  let emitted = 0

  const event = () => ({
    id: ids.uuid(),
    source: 'bench',
    type: 'nobody.waits',
    subject: String(emitted++),
    data: { status: 'ok', attempt: 1, took: 1234.5 },
  })

  /** Events per second, so many in one call. */
  async function events({ count, together }) {
    const before = performance.now()
    for (let done = 0; done < count; done += together) {
      await engine.emit(caller, Array.from({ length: together }, event))
    }
    return (count * 1_000) / elapsed(before)
  }

  /** Microseconds to find out that nothing is due. */
  async function due({ count }) {
    const before = performance.now()
    for (let i = 0; i < count; i++) {
      if ((await store.due(Date.now(), 128)).length > 0) throw new Error('something is due')
    }
    return (elapsed(before) * 1_000) / count
  }

  async function finish() {
    await store.pruneEvents(Date.now() + 60_000, emitted)
    await close()
  }

  return { ready, handlers: { events, due, memory: settledMemory, close: finish } }
})
