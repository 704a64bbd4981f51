import { randomBytes, randomFillSync } from 'node:crypto'
import type { IdSource } from '../../ports/ids.ts'

/**
 * UUIDv7 (RFC 9562): 48 bits of milliseconds, then a counter that grows within the millisecond, then randomness. Ids made
 * one after the other sort in that order, so the rows they name lie together in an index.
 */
export function createIds(now: () => number = Date.now): IdSource {
  const pool = Buffer.alloc(4096)
  let used = pool.length
  let lastMs = 0
  let counter = 0
  let time = timeText(0)

  /** Where to read the next random bytes in the pool. */
  function random(bytes: number): number {
    if (used + bytes > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return used - bytes
  }

  function uuid(): string {
    const ms = now()
    if (ms > lastMs) {
      lastMs = ms
      counter = pool.readUInt16BE(random(2)) & 0x07ff
      time = timeText(ms)
    } else if (++counter > 0x0fff) {
      // More than the counter holds within one millisecond (or the clock was set back): borrow from the next.
      lastMs++
      counter = 0
      time = timeText(lastMs)
    }
    const at = random(8)
    const byte = (index: number): string => hex[pool[at + index] ?? 0] ?? ''
    const variant = hex[((pool[at] ?? 0) & 0x3f) | 0x80] ?? ''
    const middle = `${hex[0x70 | (counter >> 8)]}${hex[counter & 0xff]}`
    return `${time}-${middle}-${variant}${byte(1)}-${byte(2)}${byte(3)}${byte(4)}${byte(5)}${byte(6)}${byte(7)}`
  }

  return { uuid, random: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48 }
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function timeText(ms: number): string {
  const text = ms.toString(16).padStart(12, '0')
  return `${text.slice(0, 8)}-${text.slice(8)}`
}
