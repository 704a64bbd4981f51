/** An explicit resume until the next step runs, against a `send` that DBOS receives, on PostgreSQL, as it recommends. */
import { inScratch } from '../harness/places.mjs'
import { spread } from '../harness/statistics.mjs'
import { startSubject } from '../harness/subject.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'
import { openWakes } from '../harness/wakes.mjs'

export function run({ quick }) {
  const count = quick ? 40 : 150
  return inScratch((path) => inScratch((theirs) => compare(path, theirs, count, quick)))
}

async function compare(path, theirs, count, quick) {
  const peer = await startSubject('peers/dbos.mjs', { path: theirs })
  const { once, close } = await openWakes({ path, wake: 'resume', to: 'running' })
  const times = []
  const ours = async () => {
    const turn = []
    for (let i = 0; i < count; i++) turn.push(await once())
    times.push(...turn)
    return spread(turn).p50
  }
  await ours()
  times.length = 0
  await peer.ask('wakes', { count })
  const turns = await takeTurns(quick ? 3 : 5, {
    ours,
    dbos: async () => (await peer.ask('wakes', { count })).p50,
  })
  await close()
  await peer.close()
  return [
    {
      what: 'explicit resume to next step running, warm, p50',
      ours: { value: spread(turns.ours).p50, unit: 'ms' },
      against: {
        what: 'DBOS send to next step running',
        value: spread(turns.dbos).p50,
        unit: 'ms',
      },
      score: { value: ratio(turns.ours, turns.dbos), unit: 'x' },
      better: 'less',
      bar: 1,
      goal: 0.3,
      details: { ms: spread(times) },
    },
  ]
}
