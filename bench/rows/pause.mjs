/** How long a client waits for the answer to a pause of a task that stands at a step boundary: durable when it comes. */
import { ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'

export function run({ quick }) {
  return inScratch(async (path) => {
    const { client, servers, close } = await startAll({ ours: ours(path) })
    const { port } = servers.ours.ready
    const cycle = (rounds) => client.ask('pauses', { port, tasks: 20, rounds })
    await cycle(quick ? 3 : 10)
    const turns = []
    // Within each cycle the two take turns already: a get follows every pause.
    for (let turn = 0; turn < (quick ? 3 : 7); turn++) turns.push(await cycle(quick ? 3 : 10))
    await close()
    const p50 = (name) => turns.map((turn) => turn[name].p50)
    const gets = p50('get')
    return [
      {
        what: 'pause answered on an idle step boundary, p50',
        ours: { value: median(p50('pause')), unit: 'ms' },
        against: { what: 'get task, p50', value: median(gets), unit: 'ms' },
        score: { value: median(p50('pause').map((ms, turn) => ms / gets[turn])), unit: 'x' },
        better: 'less',
        bar: 4,
        goal: 2,
        details: { p99: median(turns.map((turn) => turn.pause.p99)) },
      },
    ]
  })
}
