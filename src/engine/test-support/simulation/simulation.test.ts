/** S1 to S16 of `test-support/simulation/checks.ts`. `npm run simulate -- --seeds 1..2000` tries other histories. */
import { expect, it } from 'vitest'
import { hostile } from './hostile-alphabet.ts'
import { simulate } from './simulate.ts'
import { simulateTwoServers } from './two-servers.ts'

const given = (process.env['LULL_SIMULATE'] ?? '').split('..').map(Number).filter(Boolean)

/** The seeds that were asked for, or the first ones. */
function seeds(most: number): readonly number[] {
  const [from = 1, to = most] = given
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

async function failuresOf(
  histories: Iterable<number>,
  history: (seed: number) => Promise<void>,
): Promise<string[]> {
  const failed: string[] = []
  for (const seed of histories) {
    await history(seed).catch((error: unknown) => {
      failed.push(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`)
    })
  }
  return failed
}

/** Histories that failed once. */
const failedBefore: readonly number[] = [33, 89, 146, 615, 1209]

it('S1 to S10 hold in random histories of several processes with faults', {
  timeout: 3_600_000,
}, async () => {
  expect(
    await failuresOf(new Set([...failedBefore, ...seeds(200)]), (seed) => simulate(seed)),
  ).toEqual([])
})

it('S1, S4, S5, S6 and S8 hold when other servers take over that lack the last writes', {
  timeout: 3_600_000,
}, async () => {
  expect(await failuresOf(seeds(40), (seed) => simulate(seed, true))).toEqual([])
})

it('S1 to S16 hold while wall clocks are set, machines sleep, agents block and tasks are wide', {
  timeout: 3_600_000,
}, async () => {
  expect(await failuresOf(seeds(15), (seed) => simulate(seed, false, hostile))).toEqual([])
})

it('S1 to S14 hold on two servers that export, import, fork and remove tasks under holds', {
  timeout: 3_600_000,
}, async () => {
  expect(await failuresOf(seeds(20), simulateTwoServers)).toEqual([])
})
