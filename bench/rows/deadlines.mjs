/**
 * 10,000 deadlines within one second. Each task is cold: it is loaded and its wake is written, and when that is
 * durable the deadline has taken effect; then it waits for one of 64 places, is rebuilt and goes on.
 */
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'
import { startSubject } from '../harness/subject.mjs'

const COUNT = 10_000

export async function run({ quick }) {
  const turns = []
  for (let turn = 0; turn < (quick ? 1 : 3); turn++) {
    const once = await inScratch(async (path) => {
      const subject = await startSubject('subjects/deadlines.mjs', { path, count: COUNT })
      const measured = await subject.ask('measure')
      await subject.close()
      return measured
    })
    turns.push(once)
  }
  const line = (what, key, limits) => {
    const seconds = (share) => median(turns.map((turn) => turn[key][share])) / 1_000
    return {
      what: `${COUNT.toLocaleString('en')} deadlines due in one second, lateness p99, ${what}`,
      ours: { value: seconds('p99'), unit: 's' },
      score: { value: seconds('p99'), unit: 's' },
      better: 'less',
      ...limits,
      details: { p50: seconds('p50') },
    }
  }
  return [
    line('of the wake', 'wakeLate', { bar: 1, goal: 0.25 }),
    line('until the code goes on', 'codeLate', {}),
  ]
}
