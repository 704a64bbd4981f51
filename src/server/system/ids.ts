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

  function random(bytes: number): Buffer {
    if (used + bytes > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return pool.subarray(used - bytes, used)
  }

  function uuid(): string {
    const ms = now()
    if (ms > lastMs) {
      lastMs = ms
      counter = random(2).readUInt16BE() & 0x07ff
    } else if (++counter > 0x0fff) {
      // More than the counter holds within one millisecond (or the clock was set back): borrow from the next.
      lastMs++
      counter = 0
    }
    const time = lastMs.toString(16).padStart(12, '0')
    const tail = random(8)
    tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80
    const rest = tail.toString('hex')
    const middle = (0x7000 | counter).toString(16)
    return `${time.slice(0, 8)}-${time.slice(8)}-${middle}-${rest.slice(0, 4)}-${rest.slice(4)}`
  }

  return { uuid, random: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48 }
}
