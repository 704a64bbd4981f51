/**
 * Requests made from the schemas of every door, most of them spoilt, against an engine on SQLite. Whatever is sent: no door
 * answers with an error of its own, nothing of another tenant is shown, every list goes on answering, every task can be
 * ended, and the store opens again. `npm run fuzz -- --minutes 60 --seed 1` tries other requests.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { requests } from './test-support/fuzz/doors.ts'
import { openSite } from './test-support/fuzz/site.ts'

const minutes = Number(process.env['LULL_FUZZ_MINUTES'] ?? 0)
const from = Number(process.env['LULL_FUZZ_SEED'] ?? 1)
/** Those of every run of the tests. */
const SEEDS = 2
const LISTS = 8
const EACH = 50

it('every door bears any request, and lists, tasks and store go on', {
  timeout: minutes * 60_000 + 600_000,
}, async () => {
  const until = Date.now() + minutes * 60_000
  for (let seed = from; seed < from + SEEDS || Date.now() < until; seed++) await fuzz(seed)
})

async function fuzz(seed: number): Promise<void> {
  const site = await openSite()
  const batches = fc.sample(fc.array(requests, { minLength: EACH, maxLength: EACH }), {
    ...{ seed, numRuns: LISTS },
  })
  for (const batch of batches) {
    for (const request of batch) {
      expect(await site.send(request), `seed ${seed}`).toBeUndefined()
    }
    expect(await site.look(), `seed ${seed}, after ${JSON.stringify(batch)}`).toEqual([])
    await site.free()
  }
  // A fuzzer whose requests are all refused at the first check finds nothing behind it.
  expect(Math.min(...Object.values(site.accepted)), `seed ${seed}`).toBeGreaterThan(2)
  expect(await site.stranded(), `seed ${seed}`).toEqual([])
  const again = await site.reopen()
  expect(await again.look(), `seed ${seed}, opened again`).toEqual([])
  await again.close()
}
