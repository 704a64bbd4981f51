/** Cites S1 to S4 of http/event-stream.ts, on a real socket. */
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createHeartbeat, type FrameBatch, type FrameSource } from '../../http/event-stream.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { writeEvents } from './write-events.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

interface Source extends FrameSource {
  made: number
  closed: boolean
}

/** What it is told to say, then silence until it is closed. */
function source(clock: ManualClock, says: (n: number) => FrameBatch | undefined): Source {
  let silence: () => void = () => undefined
  return {
    heartbeat: createHeartbeat(clock.after, 4_000),
    made: 0,
    closed: false,
    async next() {
      const batch = this.closed ? undefined : says(this.made++)
      if (batch !== undefined) return batch
      if (!this.closed)
        await new Promise<void>((resolve) => {
          silence = resolve
        })
      return { text: '', last: true }
    },
    close() {
      this.closed = true
      silence()
    },
  }
}

interface Reader {
  readonly text: () => string
  readonly ended: Promise<void>
  leave(): void
  pause(): void
}

async function open(frames: FrameSource): Promise<{ reader: Reader; outgoing: ServerResponse }> {
  let outgoing: ServerResponse | undefined
  server = createServer((_, response) => {
    outgoing = response
    writeEvents(response, 200, { 'content-type': 'text/event-stream' }, frames).catch(
      () => undefined,
    )
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const reader = await new Promise<Reader>((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      const ended = new Promise<void>((done) => response.on('close', () => done()))
      response.on('error', () => undefined)
      resolve({
        text: () => text,
        ended,
        leave: () => asked.destroy(),
        pause: () => response.pause(),
      })
    })
    asked.on('error', reject)
    asked.end()
  })
  if (outgoing === undefined) throw new Error('nobody asked')
  return { reader, outgoing }
}

describe('events on a socket', () => {
  it('S1: leave in order, the last ones with the end', async () => {
    const clock = createManualClock()
    const frames = source(clock, (n) => ({ text: `data: ${n}\n\n`, last: n === 3 }))
    const { reader } = await open(frames)
    await reader.ended
    expect(reader.text()).toBe([0, 1, 2, 3].map((n) => `data: ${n}\n\n`).join(''))
    expect(frames.closed).toBe(true)
    expect(clock.pending()).toBe(0)
  })

  it('S2: fill silence with comments, and the head does not wait for the first frame', async () => {
    const clock = createManualClock()
    const { reader } = await open(source(clock, () => undefined))
    clock.advance(4_000)
    await expect.poll(reader.text).toBe(': still here\n')
  })

  it('S3: are made only while there is room, and a reader that takes nothing is dropped', async () => {
    const clock = createManualClock()
    const text = `data: ${'x'.repeat(100_000)}\n\n`
    const frames = source(clock, () => ({ text, last: false }))
    const { reader, outgoing } = await open(frames)
    reader.pause()
    await expect
      .poll(() => outgoing.writableNeedDrain && outgoing.socket?.writableLength)
      .toBeTruthy()
    // What the system buffers is soon full; then nothing moves any more.
    let before = -1
    await expect
      .poll(() => {
        const still = before === frames.made && outgoing.writableNeedDrain
        before = frames.made
        return still
      })
      .toBe(true)
    clock.advance(60_000)
    expect(outgoing.destroyed).toBe(false)
    clock.advance(4_000)
    expect(outgoing.destroyed).toBe(true)
    await expect.poll(() => frames.closed).toBe(true)
    await expect.poll(clock.pending).toBe(0)
  })

  it('S4: end their source when the reader goes away', async () => {
    const clock = createManualClock()
    const frames = source(clock, () => undefined)
    const { reader } = await open(frames)
    reader.leave()
    await expect.poll(() => frames.closed).toBe(true)
    await expect.poll(clock.pending).toBe(0)
  })

  it.each([
    ['silent', undefined],
    ['full', { text: `data: ${'x'.repeat(100_000)}\n\n`, last: false }],
  ])('S4: end their source although it waits, %s, behind another one', async (_, batch) => {
    const clock = createManualClock()
    const sources = [source(clock, () => undefined), source(clock, () => batch)]
    let asked = 0
    server = createServer((_, response) => {
      const frames = sources[asked++] as Source
      writeEvents(response, 200, {}, frames).catch(() => undefined)
    })
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2))
    await expect.poll(() => sources.map(({ made }) => made > 0)).toEqual([true, true])
    socket.destroy()
    await expect.poll(() => sources.map(({ closed }) => closed)).toEqual([true, true])
    await expect.poll(clock.pending).toBe(0)
  })
})
