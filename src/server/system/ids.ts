import { randomBytes, randomFillSync } from 'node:crypto'
import type { IdSource } from '../../ports/ids.ts'

/**
 * Creates UUIDv7 (RFC 9562): 48 bits of milliseconds, then a counter within the millisecond, then
 * random bits. Ids that are created one after the other sort in that order, so their rows are
 * adjacent in an index.
 */
export function createIds(now: () => number = Date.now): IdSource {
  const pool = Buffer.alloc(4096)
  let used = pool.length
  let lastMs = 0
  let counter = 0
  /**
   * The buffer in which an id is written. It is faster than concatenation, whose result the first
   * reader would have to flatten.
   */
  const text = Buffer.alloc(36, '-')

  /** The offset of the next random bytes in the pool. */
  function random(bytes: number): number {
    if (used + bytes > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return used - bytes
  }

  function writeTime(ms: number): void {
    const digits = ms.toString(16).padStart(12, '0')
    text.write(digits.slice(0, 8), 0)
    text.write(digits.slice(8), 9)
  }

  function writeByte(at: number, byte: number): void {
    text[at] = digitCodes[byte >> 4] ?? 0
    text[at + 1] = digitCodes[byte & 0x0f] ?? 0
  }

  function uuid(): string {
    const ms = now()
    if (ms > lastMs) {
      lastMs = ms
      counter = pool.readUInt16BE(random(2)) & 0x07ff
      writeTime(ms)
    } else if (++counter > 0x0fff) {
      // The counter overflowed within a millisecond, or the clock was set back, so the next
      // millisecond is used.
      lastMs++
      counter = 0
      writeTime(lastMs)
    }
    writeByte(14, 0x70 | (counter >> 8))
    writeByte(16, counter & 0xff)
    const from = random(8)
    writeByte(19, ((pool[from] ?? 0) & 0x3f) | 0x80)
    writeByte(21, pool[from + 1] ?? 0)
    for (let n = 0; n < 6; n++) writeByte(24 + 2 * n, pool[from + 2 + n] ?? 0)
    return text.toString('latin1')
  }

  return { uuid, random: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48 }
}

const digitCodes = Buffer.from('0123456789abcdef')
