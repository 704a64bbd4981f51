/**
 * A million parked tasks against none: what they cost in memory, at the start, when events pass by and when the clock
 * is looked at. Each parked task waits for an event of its own name and for a deadline of its own.
 */
import { filledDirectory } from '../harness/filled.mjs'
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'
import { startSubject } from '../harness/subject.mjs'
import { difference, ratio, takeTurns } from '../harness/turns.mjs'

export async function run({ quick }) {
  const count = quick ? 100_000 : 1_000_000
  const full = await filledDirectory('parked', count)
  return inScratch(async (none) => [
    ...(await starts(full, none, count, quick)),
    ...(await passers(full, none, count, quick)),
  ])
}

/** Fresh processes, in turns. */
async function starts(full, none, count, quick) {
  const once = (path) => async () => {
    const { ready, ask, close } = await startSubject('subjects/parked.mjs', { path })
    // Some work first, so that caches that fill with use are filled.
    await ask('events', { count: 500, together: 50 })
    const memory = await ask('memory')
    await close()
    return { ...ready, ...memory }
  }
  // The first start migrates the empty directory, and reads the full one from disk.
  await once(none)()
  await once(full)()
  const turns = await takeTurns(quick ? 3 : 7, { ours: once(full), theirs: once(none) })
  const { ours, theirs } = turns
  const of = (side, key) => side.map((one) => one[key])
  const bytes = (key) => difference(of(ours, key), of(theirs, key)) / count
  return [
    {
      what: `memory per cold parked task, ${label(count)} parked`,
      ours: { value: median(of(ours, 'rss')), unit: 'B' },
      against: { what: 'process with none parked', value: median(of(theirs, 'rss')), unit: 'B' },
      score: { value: Math.max(0, bytes('rss')), unit: 'B each' },
      better: 'less',
      bar: 100,
      goal: 0,
      details: { heapBytesPerTask: bytes('heapUsed'), rssBytesPerTask: bytes('rss') },
    },
    {
      what: `start with ${label(count)} parked tasks`,
      ours: { value: median(of(ours, 'startMs')), unit: 'ms' },
      against: { what: 'start with none', value: median(of(theirs, 'startMs')), unit: 'ms' },
      score: {
        value: difference(of(ours, 'startMs'), of(theirs, 'startMs')) / 1_000,
        unit: 's more',
      },
      better: 'less',
      bar: 1,
      goal: 0.1,
      details: { sinceProcessMs: median(of(ours, 'sinceProcessMs')) },
    },
  ]
}

/** Two processes that stay, and answer in turns. */
async function passers(full, none, count, quick) {
  const [ours, theirs] = await Promise.all(
    [full, none].map((path) => startSubject('subjects/parked.mjs', { path })),
  )
  const compare = async (name, input, turns) => {
    for (const side of [ours, theirs]) await side.ask(name, input)
    return takeTurns(turns, {
      ours: () => ours.ask(name, input),
      theirs: () => theirs.ask(name, input),
    })
  }
  const many = await compare('events', { count: quick ? 2_000 : 10_000, together: 100 }, 7)
  const single = await compare('events', { count: quick ? 200 : 500, together: 1 }, 7)
  const due = await compare('due', { count: 5_000 }, 7)
  await Promise.all([ours.close(), theirs.close()])
  const passing = (what, { ours: a, theirs: b }) => ({
    what: `events that match nothing, ${label(count)} parked, ${what}`,
    ours: { value: median(a), unit: '/s' },
    against: { what: 'with none parked', value: median(b), unit: '/s' },
    score: { value: ratio(a, b), unit: 'x' },
    better: 'more',
    bar: 0.5,
    goal: 0.9,
  })
  return [
    passing('100 in one call', many),
    passing('one at a time', single),
    {
      what: `look for due tasks, ${label(count)} parked`,
      ours: { value: median(due.ours), unit: 'us' },
      against: { what: 'with none parked', value: median(due.theirs), unit: 'us' },
      score: { value: median(due.ours), unit: 'us' },
      better: 'less',
      bar: 10,
    },
  ]
}

function label(count) {
  return count.toLocaleString('en')
}
