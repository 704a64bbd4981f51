/** Streaming send: from the request to the frame that says completed, 8 clients. */
import { a2aJs, loadOf, ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const how = { kind: 'stream', wanted: 'TASK_STATE_COMPLETED', connections: 8 }

export function run({ quick }) {
  return inScratch(async (path) => {
    const { client, servers, close } = await startAll({ ours: ours(path), memory: a2aJs() })
    const load = (name, ms) => loadOf(client, servers[name], { ...how, ms })
    for (const name of ['ours', 'memory']) await load(name, quick ? 1_000 : 6_000)
    const turns = await takeTurns(quick ? 3 : 5, {
      ours: () => load('ours', quick ? 1_000 : 3_000),
      memory: () => load('memory', quick ? 1_000 : 3_000),
    })
    await close()
    const of = (name, key) => turns[name].map((turn) => turn[key])
    return [
      {
        what: 'streaming send, request to final frame, p50 at 8 clients',
        ours: { value: median(of('ours', 'p50')), unit: 'ms' },
        against: {
          what: 'a2a-js Express, in memory',
          value: median(of('memory', 'p50')),
          unit: 'ms',
        },
        score: { value: ratio(of('ours', 'p50'), of('memory', 'p50')), unit: 'x' },
        better: 'less',
        bar: 0.4,
        goal: 0.2,
        details: {
          ours: { perSecond: median(of('ours', 'rate')), p99: median(of('ours', 'p99')) },
          theirs: { perSecond: median(of('memory', 'rate')), p99: median(of('memory', 'p99')) },
        },
      },
    ]
  })
}
