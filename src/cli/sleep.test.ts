import { it } from 'vitest'
import { sleep } from './sleep.ts'

const HOUR = 3_600_000

it('ends at once when the signal fires, or has fired', async () => {
  const left = new AbortController()
  const before = sleep(HOUR, left.signal)
  left.abort()
  await Promise.all([before, sleep(HOUR, left.signal)])
})
