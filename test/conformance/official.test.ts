import { describe, expect, test } from 'vitest'
import { A2A_JS_1_3_0 } from '../../conformance/expected-failures/a2a-js-1.3.0.ts'
import { startOfficial } from './targets.ts'
import { verdict } from './verdict.ts'

describe('the runner, against the official SDK', () => {
  test.each(['1.0.1', '1.0.0'] as const)(
    'finds what is known of it and nothing else, profile %s',
    async (profile) => {
      await using official = await startOfficial('full')
      const { unexpected, stale } = await verdict(official.url, profile, A2A_JS_1_3_0)
      expect(unexpected).toEqual([])
      expect(stale).toEqual([])
    },
  )

  const WITHOUT = [
    'CORE-CAP-001',
    'CORE-CAP-002',
    'CORE-CAP-003',
    'V03-ERR-32003',
    'V03-ERR-32004#no-streaming',
  ]

  test('checks what a card without streaming and push has to refuse', async () => {
    await using official = await startOfficial('bare')
    const { results } = await verdict(official.url, '1.0.1', [], { only: WITHOUT })
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['pass']))
  })

  test('checks what a card with a required extension has to refuse', async () => {
    await using official = await startOfficial('required')
    const { results } = await verdict(official.url, '1.0.1', [], { only: ['CORE-CAP-004'] })
    expect(results.map(({ status }) => status)).toEqual(['pass', 'pass'])
  })
})
