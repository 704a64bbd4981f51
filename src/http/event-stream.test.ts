import { describe, expect, it } from 'vitest'
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts'
import { createHeartbeat, eventStream, type FrameSource, frameText } from './event-stream.ts'

const decoder = new TextDecoder()

/** A source of `count` frames. A few frames are followed by silence, many by the end. */
function source(count: number, clock: ManualClock): FrameSource & { made: number; ended: boolean } {
  let silence: (() => void) | undefined
  const last = { text: '', last: true }
  return {
    heartbeat: createHeartbeat(clock.after, 4_000),
    made: 0,
    ended: false,
    async next() {
      if (this.made < count) {
        const n = ++this.made
        return { text: frameText({ id: `${n}.1`, data: `"${n}"` }), last: false }
      }
      if (count < 5)
        await new Promise<void>((resolve) => {
          silence = resolve
        })
      return last
    },
    close() {
      this.ended = true
      silence?.()
    },
  }
}

describe('an event stream', () => {
  it('S1: sends frames in order with their ids, then ends', async () => {
    const clock = createManualClock()
    const text = await new Response(eventStream(source(5, clock))).text()
    expect(text).toBe([1, 2, 3, 4, 5].map((n) => `id: ${n}.1\ndata: "${n}"\n\n`).join(''))
    expect(clock.pending()).toBe(0)
  })

  it('S2: fills silence with comments, one timer for all streams', async () => {
    const clock = createManualClock()
    const { heartbeat } = source(1, clock)
    const readers = [1, 2].map(() => eventStream({ ...source(1, clock), heartbeat }).getReader())
    for (const reader of readers) await reader.read()
    expect(clock.pending()).toBe(1)
    const reads = readers.map((reader) => reader.read())
    await Promise.resolve()
    clock.advance(4_000)
    for (const read of reads) {
      expect(decoder.decode((await read).value)).toMatch(/^: .*\n$/)
    }
  })

  it('S3: makes no frame before the reader can take it', async () => {
    const frames = source(1_000, createManualClock())
    const reader = eventStream(frames).getReader()
    await reader.read()
    await new Promise((resolve) => setImmediate(resolve))
    expect(frames.made).toBeLessThan(4)
  })

  it('S3: drops a reader that takes nothing for more than a minute', async () => {
    const clock = createManualClock()
    const frames = source(1_000, clock)
    const stream = eventStream(frames)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(60_000)
    expect(frames.ended).toBe(false)
    clock.advance(4_000)
    expect(frames.ended).toBe(true)
    await expect(stream.getReader().read()).rejects.toThrow('took nothing')
    expect(clock.pending()).toBe(0)
  })

  it('S4: ends its source when the reader goes away', async () => {
    const frames = source(1_000, createManualClock())
    const reader = eventStream(frames).getReader()
    await reader.read()
    await reader.cancel()
    expect(frames.ended).toBe(true)
  })
})
