/** Ours and others under the same load, in turns, and the lines of the table that come of it. */
import { loadOf } from './http.mjs'
import { median } from './statistics.mjs'
import { ratio, takeTurns } from './turns.mjs'

const others = {
  memory: 'a2a-js Express, in memory',
  sqlite: 'a2a-js Express, its SQLite store (NORMAL)',
  echo: 'bare node:http echo of the same sizes',
  plain: 'the same server without an SDK',
  before: 'the version in LULL_BENCH_BEFORE',
}

const measures = {
  rate: { unit: '/s', better: 'more' },
  p50: { unit: 'ms', better: 'less' },
}

/** Many short ones: a machine with neighbours changes its speed within seconds, and a turn is to meet the same. */
const TURNS = { warmMs: 6_000, turns: 25, turnMs: 600 }

/**
 * @param howOf the name of a server -> the load it is put under
 * @returns makes the line that compares ours with one of the others
 */
export async function compare({ client, servers }, howOf, quick, times = TURNS) {
  const { warmMs, turns, turnMs } = times
  const names = Object.keys(servers)
  const load = (name, ms) =>
    loadOf(client, servers[name], { ...howOf(name), ms: quick ? 1_000 : ms })
  for (const name of names) await load(name, warmMs)
  const loads = names.map((name) => [name, () => load(name, turnMs)])
  const seen = await takeTurns(quick ? 3 : turns, Object.fromEntries(loads))

  const of = (name, key) => seen[name].map((turn) => turn[key])
  const facts = (name) =>
    Object.fromEntries(['rate', 'p50', 'p99', 'cpuUs'].map((key) => [key, median(of(name, key))]))

  return (name, { what, measure = 'rate', bar, goal }) => {
    const { unit, better } = measures[measure]
    return {
      what,
      ours: { value: median(of('ours', measure)), unit },
      against: { what: others[name], value: median(of(name, measure)), unit },
      score: { value: ratio(of('ours', measure), of(name, measure)), unit: 'x' },
      better,
      bar,
      goal,
      details: {
        processorTimeRatio: ratio(of(name, 'cpuUs'), of('ours', 'cpuUs')),
        ours: facts('ours'),
        theirs: facts(name),
      },
    }
  }
}
