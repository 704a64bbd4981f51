/** Get of one of 500 completed tasks, over HTTP with 32 keep-alive connections. */
import { compare } from '../harness/compare.mjs'
import { a2aJs, ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'

const TASKS = 500
const how = { kind: 'get', wanted: 'TASK_STATE_COMPLETED', connections: 32 }

export function run({ quick }) {
  return inScratch(async (path) => {
    const all = await startAll({ ours: ours(path), memory: a2aJs() })
    const ids = {}
    for (const [name, { ready }] of Object.entries(all.servers)) {
      const made = await all.client.ask('collect', { port: ready.port, count: TASKS })
      ids[name] = made.ids
    }
    const line = await compare(all, (name) => ({ ...how, ids: ids[name] }), quick)
    await all.close()
    return [line('memory', { what: 'get task', bar: 5, goal: 8 })]
  })
}
