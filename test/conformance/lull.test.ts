import { afterAll, beforeAll, expect, test } from 'vitest'
import { LULL } from '../../conformance/expected-failures/lull.ts'
import { type Running, startLull } from './targets.ts'
import { verdict } from './verdict.ts'

let lull: Running
beforeAll(async () => {
  lull = await startLull()
})
afterAll(() => lull[Symbol.asyncDispose]())

test('Lull meets every requirement of A2A 1.0 and 0.3, and its own', async () => {
  const { results, unexpected, stale } = await verdict(lull.url, '1.0.1', LULL)
  expect(unexpected).toEqual([])
  expect(stale).toEqual([])
  // Nothing passes by not being asked: the agent shows every behaviour, the card offers every lane and extension.
  const skipped = results.filter(({ status }) => status === 'skip').map(({ reason }) => reason)
  const evaded = /^could not be shown|offers no|does not offer/
  expect(skipped.filter((reason) => evaded.test(reason))).toEqual([])
})

test('of the error table and media type of 1.0.0 Lull misses what 1.0.1 changed, no more', async () => {
  const { unexpected, stale } = await verdict(lull.url, '1.0.0', LULL, { lanes: ['1.0/rest'] })
  expect(unexpected).toEqual([])
  expect(stale).toEqual([])
})

test('Lull reads 0.3 bodies over REST as the 0.3 text writes them, too', async () => {
  const options = { lanes: ['0.3/rest'], v03Rest: 'kinds' } as const
  const { unexpected } = await verdict(lull.url, '1.0.1', LULL, options)
  expect(unexpected).toEqual([])
})

test('an agent under its own name is no different from the default one', async () => {
  const lanes = ['1.0/jsonrpc', '1.0/rest', '1.0/card']
  const { unexpected } = await verdict(`${lull.url}/agents/script`, '1.0.1', LULL, { lanes })
  expect(unexpected).toEqual([])
})
