/** Get of one of 500 completed tasks, over HTTP with 32 keep-alive connections. */
import { a2aJs, loadOf, ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const TASKS = 500

export function run({ quick }) {
  return inScratch(async (path) => {
    const { client, servers, close } = await startAll({ ours: ours(path), memory: a2aJs() })
    const how = {}
    for (const [name, server] of Object.entries(servers)) {
      const { ids } = await client.ask('collect', { port: server.ready.port, count: TASKS })
      how[name] = { kind: 'get', wanted: 'TASK_STATE_COMPLETED', connections: 32, ids }
    }
    const load = (name, ms) => loadOf(client, servers[name], { ...how[name], ms })
    for (const name of ['ours', 'memory']) await load(name, quick ? 1_000 : 6_000)
    const turns = await takeTurns(quick ? 3 : 5, {
      ours: () => load('ours', quick ? 1_000 : 3_000),
      memory: () => load('memory', quick ? 1_000 : 3_000),
    })
    await close()
    const of = (name, key) => turns[name].map((turn) => turn[key])
    return [
      {
        what: 'get task',
        ours: { value: median(of('ours', 'rate')), unit: '/s' },
        against: {
          what: 'a2a-js Express, in memory',
          value: median(of('memory', 'rate')),
          unit: '/s',
        },
        score: { value: ratio(of('ours', 'rate'), of('memory', 'rate')), unit: 'x' },
        better: 'more',
        bar: 5,
        goal: 8,
        details: {
          processorTimeRatio: ratio(of('memory', 'cpuUs'), of('ours', 'cpuUs')),
          oursP50: median(of('ours', 'p50')),
          theirsP50: median(of('memory', 'p50')),
        },
      },
    ]
  })
}
