/** Ten thousand cold tasks whose deadlines fall into one second, and how late each of them goes on. */

import { fill } from '../harness/fill.mjs'
import { load, openStore, system } from '../harness/lull.mjs'
import { parkedLife, sleeper } from '../harness/parked.mjs'
import { spread } from '../harness/statistics.mjs'
import { serveSubject } from '../harness/subject.mjs'

const MINUTE_MS = 60_000
const FIRST_MINUTES = 60
/** The first deadline comes this long after the start: what a process needs to stand still first. */
const LEAD_MS = 500

await serveSubject(async ({ path, count }) => {
  const at = Date.now()
  const offsetOf = (number) => FIRST_MINUTES * MINUTE_MS + Math.floor((number * 1_000) / count)
  const timeoutOf = (number) => ({ durationMinutes: offsetOf(number) / MINUTE_MS })
  await fill({ path, count, life: await parkedLife(timeoutOf), at })

  /** The engine's clock is set forward by the hour that the deadlines are away. */
  async function measure() {
    const services = await system()
    const { createSystemClock } = await load('server/system/clock.js')
    const ahead = at + FIRST_MINUTES * MINUTE_MS - LEAD_MS - Date.now()
    const codeLate = []
    const wakeLate = []
    let done = () => undefined
    const all = new Promise((resolve) => {
      done = resolve
    })
    const lateness = (number) => Date.now() + ahead - (at + offsetOf(number))
    const woke = (number) => {
      codeLate.push(lateness(number))
      if (codeLate.length === count) done()
    }
    const { createEngine } = await load('engine/engine.js')
    const store = await openStore(path)
    const agents = [await sleeper({ woke, timeoutOf })]
    const clock = createSystemClock({ wall: () => Date.now() + ahead, uptime: performance.now })
    const engine = createEngine({ ...services, store, agents, clock })
    const seen = new Set()
    // Told when it is durable, not when it was decided.
    engine.watch((task) => {
      if (task.wake === undefined || seen.has(task.id)) return
      seen.add(task.id)
      wakeLate.push(lateness(Number(task.history[0].parts[0].text)))
    })
    await engine.start()
    await all
    await engine.drain({ timeoutMs: 5_000 })
    await store.close()
    return { codeLate: spread(codeLate), wakeLate: spread(wakeLate) }
  }

  return { handlers: { measure } }
})
