import { describe, expect, it } from 'vitest'
import { sourcesIn } from './sources.mjs'
import { hastyWaitsIn } from './waits.mjs'

describe('a test that gives up early on a busy machine', () => {
  it('is found by its timeout, or by a wait that has one of its own', () => {
    const text = [
      'await expect.poll(fact, { timeout: 59_999 }).toBe(1)',
      'await expect.poll(fact, { timeout: 60_000 }).toBe(1)',
      "it('takes hours', { timeout: 0 }, run)",
      'await vi.waitFor(() => expect(fact()).toBe(1))',
      'task.park({ timeout: { durationMinutes: 1 } })',
    ].join('\n')
    expect(hastyWaitsIn([{ path: 'src/a.test.ts', text }])).toEqual([
      'src/a.test.ts:1: timeout: 59_999',
      'src/a.test.ts:4: vi.waitFor(',
    ])
    expect(hastyWaitsIn([{ path: 'src/a.ts', text }])).toEqual([])
  })

  it.each(['src', 'test'])('is not in %s', (folder) => {
    const files = sourcesIn(folder)
    expect(files.length).toBeGreaterThan(0)
    expect(hastyWaitsIn(files)).toEqual([])
  })
})
