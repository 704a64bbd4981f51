import { describe, expect, it } from 'vitest'
import { durationMs, inMs, toMs } from './duration.ts'

describe('a duration', () => {
  it.each([
    [0, 0],
    [250, 250],
    ['1 ms', 1],
    ['1 second', 1_000],
    ['1.5 seconds', 1_500],
    ['30 minutes', 1_800_000],
    ['1 hour', 3_600_000],
    ['3 days', 259_200_000],
    ['2 weeks', 1_209_600_000],
  ])('%s is %d ms', (given, ms) => {
    expect(toMs(given)).toBe(ms)
  })

  it.each([
    -1,
    Number.NaN,
    '',
    '30',
    '30minutes',
    'minutes',
    '-1 day',
    '1 fortnight',
    '1e3 ms',
    '1 toString',
    null,
    undefined,
    {},
  ])('%s is none', (given) => {
    expect(toMs(given)).toBeUndefined()
  })

  it('is refused with its path', () => {
    expect(() => durationMs('soon' as '1 ms', 'timeoutMs')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ path: 'timeoutMs' }) }),
    )
  })

  it('becomes a number in every member named …Ms, and in no other', () => {
    const given = { tasksForMs: '30 days', name: '30 days', pollMs: undefined }
    expect(inMs(given)).toEqual({ tasksForMs: 2_592_000_000, name: '30 days', pollMs: undefined })
  })
})
