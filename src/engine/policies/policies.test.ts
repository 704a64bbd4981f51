import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createPolicies } from './policies.ts'

it('two reads at the same time do not make each other read again for ever', async () => {
  let reads = 0
  const store = {
    async policies() {
      if (++reads > 10) throw new Error('it reads again and again')
      await turn()
      return []
    },
  }
  const policies = createPolicies({ store, clock: createManualClock() }, () => undefined)
  await Promise.all([policies.refresh(), policies.refresh()])
  expect(reads).toBe(2)
})
