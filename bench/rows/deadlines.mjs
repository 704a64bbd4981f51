/** 10,000 deadlines within one second: each task is cold, is woken, rebuilt and goes on; 64 of them run at a time. */
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
  const seconds = (key, share) => median(turns.map((turn) => turn[key][share])) / 1_000
  return [
    {
      what: `${COUNT.toLocaleString('en')} deadlines due in one second, lateness p99`,
      ours: { value: seconds('late', 'p99'), unit: 's' },
      score: { value: seconds('late', 'p99'), unit: 's' },
      better: 'less',
      bar: 1,
      goal: 0.25,
      details: {
        goesOnLateP50: seconds('late', 'p50'),
        wakeRecordedLateP50: seconds('decidedLate', 'p50'),
        wakeRecordedLateP99: seconds('decidedLate', 'p99'),
      },
    },
  ]
}
