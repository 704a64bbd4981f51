import { describe, expect, it } from 'vitest'
import { createIds } from './ids.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('an id', () => {
  it('is a UUIDv7 that says when it was made', () => {
    const { uuid } = createIds(() => 0x0192_abcd_ef01)
    const id = uuid()
    expect(id).toMatch(V7)
    expect(id.slice(0, 14)).toBe('0192abcd-ef01-')
  })

  it('sorts after the ones before it: of one millisecond, of thousands in one, of a clock set back', () => {
    let ms = 1_763_000_000_000
    const { uuid } = createIds(() => ms)
    const ids = Array.from({ length: 10_000 }, () => uuid())
    ms += 1
    ids.push(uuid())
    ms -= 3_600_000
    ids.push(uuid(), uuid())
    ms += 7_200_000
    ids.push(uuid())
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(V7)
  })

  it('is random after its time and counter', () => {
    const tails = Array.from({ length: 64 }, () =>
      createIds(() => 1)
        .uuid()
        .slice(19),
    )
    expect(new Set(tails).size).toBe(tails.length)
    for (let digit = 5; digit < 17; digit++) {
      expect(new Set(tails.map((tail) => tail[digit])).size).toBeGreaterThan(4)
    }
  })
})
