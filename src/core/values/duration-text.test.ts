import { expect, it } from 'vitest'
import { durationText } from './duration.ts'

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [11_520_000, '3 h 12 min'],
  [90_061_000, '1 d 1 h'],
])('says %i ms as %s', (ms, words) => expect(durationText(ms)).toBe(words))
