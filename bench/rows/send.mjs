/**
 * Blocking send of a task that completes at once (one artifact), over HTTP with 32 keep-alive connections. Ours keeps it
 * durably (SQLite, FULL); the official SDK runs as documented, in memory and on its own SQLite store (NORMAL).
 */
import { compare } from '../harness/compare.mjs'
import { a2aJs, echo, ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'

const what = 'blocking send of a task that completes at once'
const how = { kind: 'send', wanted: 'TASK_STATE_COMPLETED', connections: 32 }

export function run({ quick }) {
  return inScratch((path) => inScratch((theirs) => measured(path, theirs, quick)))
}

async function measured(path, theirs, quick) {
  const { client, servers, close } = await startAll({
    ours: ours(path),
    memory: a2aJs(),
    sqlite: a2aJs({ store: 'sqlite', path: theirs }),
  })
  const { sample } = await client.ask('collect', { port: servers.ours.ready.port, count: 1 })
  const bare = await echo(sample)()
  const line = await compare({ client, servers: { ...servers, echo: bare } }, () => how, quick)
  await bare.close()
  await close()
  return [
    line('memory', { what, bar: 4, goal: 7 }),
    line('sqlite', { what, bar: 15, goal: 25 }),
    line('echo', { what, bar: 0.2, goal: 0.4 }),
  ]
}
