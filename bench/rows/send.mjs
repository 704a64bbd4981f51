/**
 * Blocking send of a task that completes at once (one artifact), over HTTP with 32 keep-alive connections. Ours keeps it
 * durably (SQLite, FULL); the official SDK runs as documented, in memory and on its own SQLite store (NORMAL).
 */
import { a2aJs, echo, loadOf, ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const how = { kind: 'send', wanted: 'TASK_STATE_COMPLETED', connections: 32 }

export function run({ quick }) {
  return inScratch((path) => inScratch((theirs) => compare(path, theirs, quick)))
}

async function compare(path, theirs, quick) {
  const all = await startAll({
    ours: ours(path),
    memory: a2aJs(),
    sqlite: a2aJs({ store: 'sqlite', path: theirs }),
  })
  const { port } = all.servers.ours.ready
  const { sample } = await all.client.ask('collect', { port, count: 1 })
  const servers = { ...all.servers, echo: await echo(sample)() }
  const load = (name, ms) => loadOf(all.client, servers[name], { ...how, ms })
  const names = Object.keys(servers)
  for (const name of names) await load(name, quick ? 1_000 : 6_000)
  const turns = await takeTurns(
    quick ? 3 : 5,
    Object.fromEntries(names.map((name) => [name, () => load(name, quick ? 1_000 : 3_000)])),
  )
  await servers.echo.close()
  await all.close()

  const of = (name, key) => turns[name].map((turn) => turn[key])
  const line = (name, what, bar, goal) => ({
    what: 'blocking send of a task that completes at once',
    ours: { value: median(of('ours', 'rate')), unit: '/s' },
    against: { what, value: median(of(name, 'rate')), unit: '/s' },
    score: { value: ratio(of('ours', 'rate'), of(name, 'rate')), unit: 'x' },
    better: 'more',
    bar,
    goal,
    details: {
      processorTimeRatio: ratio(of(name, 'cpuUs'), of('ours', 'cpuUs')),
      ours: {
        p50: median(of('ours', 'p50')),
        p99: median(of('ours', 'p99')),
        cpuUs: median(of('ours', 'cpuUs')),
      },
      theirs: {
        p50: median(of(name, 'p50')),
        p99: median(of(name, 'p99')),
        cpuUs: median(of(name, 'cpuUs')),
      },
    },
  })
  return [
    line('memory', 'a2a-js Express, in memory', 4, 7),
    line('sqlite', 'a2a-js Express, its SQLite store (NORMAL)', 15, 25),
    line('echo', 'bare node:http echo of the same sizes', 0.2, 0.4),
  ]
}
