/** Cites F2 of counted-response.ts, on a real server: what open streams have sent takes nothing from their caller. */
import { request } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { createHeartbeat, type FrameSource } from '../../http/event-stream.ts'
import { noMeter } from '../../ports/meter.ts'
import { createA2A } from '../../protocols/a2a/index.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createRefusedAttempts } from '../auth/refused-attempts.ts'
import { openApp } from '../test-support/open-app.ts'
import { createBytesInFlight } from './bytes-in-flight.ts'
import { createFront } from './front.ts'
import { type Listener, listen } from './listen.ts'

let listener: Listener | undefined
afterEach(() => listener?.close(0))

const LARGE = 200_000

/** A large frame, then silence. */
function source(): FrameSource {
  let made = 0
  let end: () => void = () => undefined
  const silence = new Promise<void>((resolve) => {
    end = resolve
  })
  return {
    heartbeat: createHeartbeat(createManualClock().after, 4_000),
    async next() {
      if (made++ === 0) return { text: 'x'.repeat(LARGE), last: false }
      await silence
      return { text: '', last: true }
    },
    close: end,
  }
}

async function open(): Promise<number> {
  const { app, engine, deps } = await openApp()
  const { store, clock, ids, log } = deps
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl: 'http://lull.test' })
  listener = await listen('127.0.0.1', 0)
  const ann = { tenant: 'acme', principal: 'ann', scopes: new Set<never>() }
  const front = createFront({
    meter: noMeter,
    a2a: { ...a2a, handle: async () => ({ status: 200, headers: {}, body: source() }) },
    app,
    log,
    host: '127.0.0.1',
    authenticate: () => ann,
    admission: { enter: () => () => undefined, take: () => undefined, close: () => undefined },
    refused: createRefusedAttempts(engine.audit),
    inFlight: createBytesInFlight(LARGE + 1),
  })
  listener.answer(front)
  return listener.port
}

/** Resolves with the status when the whole frame was read. The stream stays open. */
function stream(port: number, body: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', agent: false, method: 'POST' }, (response) => {
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size === LARGE) resolve(response.statusCode)
      })
      response.on('end', () => resolve(response.statusCode))
      response.on('error', reject)
    })
    asked.on('error', reject)
    for (const piece of body) asked.write(piece)
    asked.end()
  })
}

it.each([
  ['frames', []],
  ['bodies', ['x'.repeat(LARGE / 2), 'x'.repeat(LARGE / 2)]],
])('F2: large %s of streams that are open count only until they were sent', async (_, body) => {
  const port = await open()
  for (let n = 0; n < 4; n++) expect(await stream(port, body)).toBe(200)
})
