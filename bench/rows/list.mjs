/** The newest 10 of 100,000 tasks of one principal, with their total, one request at a time. */
import { filledDirectory } from '../harness/filled.mjs'
import { a2aJs, loadOf, ours, startAll } from '../harness/http.mjs'
import { median } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const TASKS = 100_000
const how = { kind: 'list', wanted: `"totalSize":${TASKS}`, connections: 1 }

export async function run({ quick }) {
  const path = await filledDirectory('completed', TASKS)
  const { client, servers, close } = await startAll({ ours: ours(path), memory: a2aJs() })
  await servers.memory.ask('fill', { count: TASKS })
  const load = (name, ms) => loadOf(client, servers[name], { ...how, ms })
  for (const name of ['ours', 'memory']) await load(name, quick ? 1_000 : 3_000)
  const turns = await takeTurns(quick ? 3 : 7, {
    ours: () => load('ours', quick ? 1_000 : 2_000),
    memory: () => load('memory', quick ? 1_000 : 2_000),
  })
  await close()
  const of = (name, key) => turns[name].map((turn) => turn[key])
  return [
    {
      what: `list 10 of ${TASKS.toLocaleString('en')} tasks`,
      ours: { value: median(of('ours', 'rate')), unit: '/s' },
      against: {
        what: 'a2a-js Express, in memory',
        value: median(of('memory', 'rate')),
        unit: '/s',
      },
      score: { value: ratio(of('ours', 'rate'), of('memory', 'rate')), unit: 'x' },
      better: 'more',
      bar: 20,
      goal: 100,
      details: { oursP50: median(of('ours', 'p50')), theirsP50: median(of('memory', 'p50')) },
    },
  ]
}
