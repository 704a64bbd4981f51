/**
 * From asking a stopped task to go on until its next step runs, one task at a time. Warm: its frame is still in memory.
 * Cold: neither frame nor task are; both are rebuilt from the log. One commit lies between, so nothing beats an fsync.
 */
import { fdatasyncTimes } from '../harness/limits.mjs'
import { inScratch } from '../harness/places.mjs'
import { spread } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'
import { openWakes } from '../harness/wakes.mjs'

const cold = { warmForMs: 0, cachedTasks: 1 }

const kinds = [
  { what: 'explicit resume to next step committed, warm', wake: 'resume', to: 'committed', bar: 3 },
  { what: 'explicit resume to next step running, warm', wake: 'resume' },
  { what: 'explicit resume to next step running, cold', wake: 'resume', options: cold },
  { what: 'event to next step running, warm', wake: 'event' },
  { what: 'event to next step running, cold', wake: 'event', options: cold },
]

export async function run({ quick }) {
  const lines = []
  for (const kind of kinds) lines.push(await measure(kind, quick))
  return lines
}

function measure({ what, wake, options, to = 'running', bar }, quick) {
  return inScratch(async (path) => {
    const { once, close } = await openWakes({ path, wake, to, options })
    const count = quick ? 60 : 200
    for (let i = 0; i < count; i++) await once()
    const times = []
    const syncs = []
    const { ours, fdatasync } = await takeTurns(quick ? 3 : 7, {
      ours: () => p50Of(times, count, once),
      fdatasync: () => {
        const turn = fdatasyncTimes(path, 200)
        syncs.push(...turn)
        return syncsBefore(to) * spread(turn).p50
      },
    })
    await close()
    return {
      what,
      ours: { value: spread(times).p50, unit: 'ms' },
      against: {
        what: `fdatasync of 4 KiB, ${syncsBefore(to)} x`,
        value: syncsBefore(to) * spread(syncs).p50,
        unit: 'ms',
      },
      score: { value: ratio(ours, fdatasync), unit: 'x' },
      better: 'less',
      bar,
      details: { ms: spread(times), fdatasyncMs: spread(syncs) },
    }
  })
}

/** The wake is durable before the step runs, the step before its result is used. */
function syncsBefore(to) {
  return to === 'committed' ? 2 : 1
}

async function p50Of(times, count, once) {
  const turn = []
  for (let i = 0; i < count; i++) turn.push(await once())
  times.push(...turn)
  return spread(turn).p50
}
