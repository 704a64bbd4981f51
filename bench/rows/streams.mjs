/** What an open stream on a parked task costs the server: memory in use once garbage is gone, per stream. */
import { startFill } from '../harness/filled.mjs'
import { ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'

export function run({ quick }) {
  const count = quick ? 2_000 : 10_000
  return inScratch(async (path) => {
    const filling = await startFill({ path, kind: 'parked', count })
    const ids = await filling.ask('ids')
    await filling.close()
    const { client, servers, close } = await startAll({ ours: ours(path) })
    const { port } = servers.ours.ready
    // The first ones pay for what all of them share.
    await client.ask('streams', { port, ids: ids.slice(0, 200) })
    const before = await servers.ours.ask('memory')
    await client.ask('streams', { port, ids: ids.slice(200) })
    const after = await servers.ours.ask('memory')
    await close()
    const each = (key) => (after[key] - before[key]) / (count - 200) / 1_000
    return [
      {
        what: `streams: ${count.toLocaleString('en')} open on parked tasks`,
        ours: { value: after.rss, unit: 'B' },
        against: { what: 'with 200 open', value: before.rss, unit: 'B' },
        score: { value: each('rss'), unit: 'KB each' },
        better: 'less',
        bar: 20,
        goal: 8,
        details: { heapKBEach: each('heapUsed') },
      },
    ]
  })
}
