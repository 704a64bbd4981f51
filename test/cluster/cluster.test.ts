/** Several processes on one PostgreSQL, while some of them die. `LULL_SOAK=<minutes>,<seed>` is the long run. */
import { expect, it } from 'vitest'
import { soak } from './soak.ts'

it('two processes see 50 tasks through, and one of them is killed', async () => {
  const { faults, counts, accounts, broken } = await soak({
    seed: 1,
    processes: 2,
    atOnce: 10,
    goesOn: (begun) => begun < 50,
    faults: ['kill'],
  })
  expect(counts['steps']).toBeGreaterThan(100)
  expect(faults).toEqual([])
  expect(accounts).toHaveLength(50)
  expect(broken.kill).toBeGreaterThan(0)
})
