import { afterAll, beforeAll, expect, test } from 'vitest'
import { LULL } from '../../conformance/expected-failures/lull.ts'
import { type Running, startLull } from './targets.ts'
import { verdict } from './verdict.ts'

let lull: Running
beforeAll(async () => {
  lull = await startLull()
})
afterAll(() => lull[Symbol.asyncDispose]())

test.each(['1.0.1', '1.0.0'] as const)(
  'Lull meets every requirement of A2A 1.0 and 0.3 and its own, profile %s',
  async (profile) => {
    const { results, unexpected, stale } = await verdict(lull.url, profile, LULL)
    expect(unexpected).toEqual([])
    expect(stale).toEqual([])
    expect(results.filter(({ status }) => status === 'pass').length).toBeGreaterThan(400)
  },
)

test('Lull reads 0.3 bodies over REST as the specification writes them, too', async () => {
  const options = { lanes: ['0.3/rest'], v03Rest: 'kinds' } as const
  const { unexpected } = await verdict(lull.url, '1.0.1', LULL, options)
  expect(unexpected).toEqual([])
})

test('nothing Lull offers on its card is left out', async () => {
  const { results } = await verdict(lull.url, '1.0.1', LULL)
  const skipped = results.filter(({ status }) => status === 'skip').map(({ reason }) => reason)
  expect(skipped.filter((reason) => reason.startsWith('could not be shown'))).toEqual([])
  expect(skipped.filter((reason) => /offers no|does not offer/.test(reason))).toEqual([])
})
