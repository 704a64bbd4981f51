import { describe, expect, it } from 'vitest'
import { createManualClock } from '../testing/manual-clock.ts'
import { createPulse, type EventFrame, eventStream } from './event-stream.ts'

const decoder = new TextDecoder()

function source(count: number): {
  frames: AsyncGenerator<EventFrame, void>
  made: () => number
  ended: () => boolean
  wait: Promise<void>
} {
  let made = 0
  let ended = false
  let idle = (): void => undefined
  const wait = new Promise<void>((resolve) => {
    idle = resolve
  })
  async function* frames(): AsyncGenerator<EventFrame, void> {
    try {
      while (made < count) yield { id: `${++made}.1`, data: `"${made}"` }
      idle()
      if (count < 5) await new Promise(() => undefined)
    } finally {
      ended = true
    }
  }
  return { frames: frames(), made: () => made, ended: () => ended, wait }
}

describe('an event stream', () => {
  it('sends frames in order with their ids, then ends', async () => {
    const clock = createManualClock()
    const { frames } = source(5)
    const text = await new Response(eventStream(frames, createPulse(clock.after, 15_000))).text()
    expect(text).toBe([1, 2, 3, 4, 5].map((n) => `id: ${n}.1\ndata: "${n}"\n\n`).join(''))
    expect(clock.pending()).toBe(0)
  })

  it('fills silence with comments, one timer for all streams', async () => {
    const clock = createManualClock()
    const pulse = createPulse(clock.after, 15_000)
    const readers = [source(1), source(1)].map(({ frames }) =>
      eventStream(frames, pulse).getReader(),
    )
    for (const reader of readers) await reader.read()
    expect(clock.pending()).toBe(1)
    const reads = readers.map((reader) => reader.read())
    await Promise.resolve()
    clock.advance(15_000)
    for (const read of reads) {
      expect(decoder.decode((await read).value)).toMatch(/^: .*\n\n$/)
    }
  })

  it('makes no frame that the reader has no room for', async () => {
    const { frames, made } = source(1_000)
    const reader = eventStream(frames, createPulse(createManualClock().after, 15_000)).getReader()
    await reader.read()
    await new Promise((resolve) => setImmediate(resolve))
    expect(made()).toBeLessThan(4)
  })

  it('drops a reader that takes nothing for a minute', async () => {
    const clock = createManualClock()
    const { frames } = source(1_000)
    let over = false
    const stream = eventStream(frames, createPulse(clock.after, 15_000), () => {
      over = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(45_000)
    expect(over).toBe(false)
    clock.advance(15_000)
    expect(over).toBe(true)
    await expect(stream.getReader().read()).rejects.toThrow('took nothing')
    expect(clock.pending()).toBe(0)
  })

  it('ends its source when the reader goes away', async () => {
    const { frames, ended } = source(1_000)
    const reader = eventStream(frames, createPulse(createManualClock().after, 15_000)).getReader()
    await reader.read()
    await reader.cancel()
    expect(ended()).toBe(true)
  })
})
