/** `sessions.ts` and `stream-io.ts`: clients that are slow, hostile or gone, over real sockets and with a manual clock. */

import { fromJson, toBinary } from '@bufbuild/protobuf'
import { status } from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../engine/engine.ts'
import { noMeter } from '../../ports/meter.ts'
import { createA2A } from '../../protocols/a2a/index.ts'
import type { ManualClock } from '../../testing/manual-clock.ts'
import { A2A_SERVICE, methodNamed } from '../../wire/grpc/messages.ts'
import { type Admission, createAdmission, defaultLimits } from '../auth/admission.ts'
import { type Identity, owner } from '../auth/identity.ts'
import { createRefusedAttempts } from '../auth/refused-attempts.ts'
import { createBytesInFlight } from '../http/bytes-in-flight.ts'
import { createFront } from '../http/front.ts'
import { type Listener, listen } from '../http/listen.ts'
import { openApp } from '../test-support/open-app.ts'
import { openGrpc } from './open-grpc.ts'
import { type GrpcClient, type Loose, openGrpcClient } from './test-support/grpc-client.ts'
import {
  CONTINUATION,
  callOf,
  DATA,
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  GOAWAY,
  HEADERS,
  messageOf,
  openRaw,
  PING,
  RST_STREAM,
  SETTINGS,
} from './test-support/raw-http2.ts'

const GET_TASK = '/lf.a2a.v1.A2AService/GetTask'
const HEALTH = '/grpc.health.v1.Health/Check'

let listener: Listener
let port: number
let engine: Engine
let clock: ManualClock
let client: GrpcClient
/** How many calls reached A2A. */
let calls: number
/** How many calls are open. */
let entered: { open: number }
/** A caller with limits, unlike the owner of the process. */
const caller: Identity = { ...owner, principal: 'ann' }

beforeEach(async () => {
  const opened = await openApp()
  const { app, deps } = opened
  engine = opened.engine
  clock = deps.clock as ManualClock
  const { store, ids, log } = deps
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl: 'http://127.0.0.1' })
  calls = 0
  const counted: typeof a2a.call = (...given) => {
    calls++
    return a2a.call(...given)
  }
  listener = await listen('127.0.0.1', 0)
  port = listener.port
  const limits = { ...defaultLimits, requestsPerSecond: 10_000, requestsOpen: 1_000 }
  const admission = createAdmission({ clock, stillValid: async () => true }, limits)
  const counter = { open: 0 }
  entered = counter
  const enter: Admission['enter'] = (identity, end) => {
    const leave = admission.enter(identity, end)
    if (typeof leave !== 'function') return leave
    counter.open++
    return () => {
      counter.open--
      leave()
    }
  }
  const doors = {
    authenticate: () => caller,
    admission: { ...admission, enter },
    refused: createRefusedAttempts(engine.audit),
    inFlight: createBytesInFlight(700_000),
    meter: noMeter,
    host: '127.0.0.1',
    bodyLimitBytes: 2_000_000,
    log,
  }
  const isReady = async () => true
  const grpc = openGrpc({ ...doors, a2a: { call: counted }, clock, isReady })
  listener.answer(createFront({ ...doors, admission, a2a, app }), undefined, grpc)
  client = openGrpcClient(`127.0.0.1:${port}`, 'lf.a2a.v1.A2AService')
})
afterEach(async () => {
  client.close()
  await listener.close(0)
})

/** A call of somebody else. */
const answers = () =>
  expect(client.call('GetTask', { id: 'x' })).rejects.toMatchObject({ code: status.NOT_FOUND })

describe('floods', () => {
  it('a client that resets every call at once is disconnected', async () => {
    const raw = await openRaw(port)
    const head = fields(callOf(GET_TASK))
    const frames = Array.from({ length: 5_000 }, (_, at) => [
      frame(HEADERS, END_HEADERS, 2 * at + 1, head),
      frame(RST_STREAM, 0, 2 * at + 1, new Uint8Array([0, 0, 0, 8])),
    ]).flat()
    raw.send(...frames)
    await raw.closed
    expect(raw.received).toContain(GOAWAY)
    expect(calls).toBe(0)
    await answers()
  })

  it.each([
    ['pings', frame(PING, 0, 0, new Uint8Array(8))],
    ['settings', frame(SETTINGS, 0, 0)],
  ])('H3: a client that sends nothing but %s is disconnected', async (_, flood) => {
    const raw = await openRaw(port)
    raw.send(...Array.from({ length: 90 }, () => flood))
    await expect.poll(() => raw.received.length).toBeGreaterThan(80)
    expect(raw.socket.destroyed).toBe(false)
    raw.send(...Array.from({ length: 10_000 }, () => flood))
    await raw.closed
    await answers()
  })

  it('H3: pings between answers do not disconnect a client', async () => {
    const raw = await openRaw(port)
    const head = fields(callOf(HEALTH))
    for (let at = 0; at < 5; at++) {
      raw.send(...Array.from({ length: 50 }, () => frame(PING, 0, 0, new Uint8Array(8))))
      raw.send(
        frame(HEADERS, END_HEADERS, 2 * at + 1, head),
        frame(DATA, END_STREAM, 2 * at + 1, messageOf(new Uint8Array())),
      )
      await expect.poll(() => raw.received.filter((type) => type === DATA).length).toBe(at + 1)
    }
    expect(raw.socket.destroyed).toBe(false)
    raw.socket.destroy()
  })

  it('a head that never ends is cut off', async () => {
    const raw = await openRaw(port)
    raw.send(frame(HEADERS, 0, 1, fields(callOf(GET_TASK))))
    const more = frame(CONTINUATION, 0, 1, fields({ more: 'x'.repeat(10_000) }))
    for (let at = 0; at < 2_000 && !raw.socket.destroyed; at++) {
      if (!raw.socket.write(more))
        await Promise.race([
          new Promise((resolve) => raw.socket.once('drain', resolve)),
          raw.closed,
        ])
    }
    await raw.closed
    await answers()
  })

  it('a head of 100 KB is refused', async () => {
    await expect(
      client.call('GetTask', { id: 'x' }, { metadata: { more: 'x'.repeat(100_000) } }),
    ).rejects.toThrow()
    expect(calls).toBe(0)
    await answers()
  })
})

describe('calls that are not finished', () => {
  it('more than 100 at once on a connection are refused', async () => {
    const raw = await openRaw(port)
    const head = fields(callOf(GET_TASK))
    raw.send(
      ...Array.from({ length: 150 }, (_, at) => frame(HEADERS, END_HEADERS, 2 * at + 1, head)),
    )
    await expect.poll(() => raw.received.filter((type) => type === RST_STREAM).length).toBe(50)
    raw.socket.destroy()
  })

  it('G1: half a message ends after 120 s', async () => {
    const raw = await openRaw(port)
    raw.send(
      frame(HEADERS, END_HEADERS, 1, fields(callOf(GET_TASK))),
      frame(DATA, 0, 1, messageOf(new Uint8Array(100)).subarray(0, 50)),
    )
    await expect.poll(() => entered.open).toBe(1)
    for (let s = 0; s < 125; s += 5) {
      clock.advance(5_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => raw.received).toContain(HEADERS)
    expect(entered.open).toBe(0)
    raw.socket.destroy()
  })

  it('G1: a message above the limit is refused, and the connection goes on', async () => {
    const id = 'x'.repeat(2_100_000)
    await expect(client.call('GetTask', { id })).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
    })
    await answers()
  })

  it('G2: messages of one caller that do not end count together', async () => {
    const waiting = Array.from({ length: 4 }, () => openRaw(port))
    const raws = await Promise.all(waiting)
    for (const raw of raws) {
      raw.send(frame(HEADERS, END_HEADERS, 1, fields(callOf(GET_TASK))))
      for (let at = 0; at < 6; at++) raw.send(frame(DATA, 0, 1, new Uint8Array(10_000)))
    }
    await expect.poll(() => entered.open).toBe(4)
    const id = 'x'.repeat(500_000)
    await expect(client.call('GetTask', { id })).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
    })
    for (const raw of raws) raw.socket.destroy()
    await expect.poll(() => entered.open).toBe(0)
    await expect(client.call('GetTask', { id })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    })
  })
})

describe('readers that read nothing', () => {
  /** A task whose answer has 400 KB. */
  async function largeTask(): Promise<string> {
    const message = {
      messageId: 'm',
      role: 'ROLE_USER' as const,
      parts: [{ text: 'x'.repeat(400_000) }],
    }
    const sent = await engine.send(
      { tenant: caller.tenant, principal: caller.principal },
      { message },
    )
    return sent.kind === 'task' ? sent.task.id : ''
  }

  const { input } = methodNamed(A2A_SERVICE, 'GetTask', 'unary')
  const getTask = (id: string): Buffer => messageOf(toBinary(input, fromJson(input, { id })))

  /** Its window for every stream is empty. */
  const NO_WINDOW = frame(SETTINGS, 0, 0, new Uint8Array([0, 4, 0, 0, 0, 0]))

  it('G2, G3: their answers count, and end after 30 s', async () => {
    const request = getTask(await largeTask())
    const raw = await openRaw(port)
    raw.send(NO_WINDOW)
    const head = fields(callOf(GET_TASK))
    const ask = (at: number): void =>
      raw.send(frame(HEADERS, END_HEADERS, at, head), frame(DATA, END_STREAM, at, request))
    ask(1)
    await expect.poll(() => raw.received.filter((type) => type === HEADERS).length).toBe(1)
    ask(3)
    // The second answer is an error alone, and ends at once.
    await expect.poll(() => raw.received.filter((type) => type === HEADERS).length).toBe(2)
    await expect.poll(() => entered.open).toBe(1)
    clock.advance(30_000)
    await expect.poll(() => entered.open).toBe(0)
    await expect.poll(() => raw.received).toContain(RST_STREAM)
    const stranger = client.call('GetTask', { id: await largeTask() })
    expect((await stranger).history[0].parts[0].text).toHaveLength(400_000)
    raw.socket.destroy()
  })
})

describe('connections', () => {
  it('H1: without a call is closed after 15 s', async () => {
    const raw = await openRaw(port)
    await expect.poll(() => raw.received).toContain(SETTINGS)
    clock.advance(10_000)
    expect(raw.received).not.toContain(GOAWAY)
    clock.advance(10_000)
    await raw.closed
    expect(raw.received).toContain(GOAWAY)
  })

  it('H1: whose calls are over is closed after 60 s', async () => {
    const raw = await openRaw(port)
    raw.send(
      frame(HEADERS, END_HEADERS, 1, fields(callOf(HEALTH))),
      frame(DATA, END_STREAM, 1, messageOf(new Uint8Array())),
    )
    await expect.poll(() => raw.received).toContain(DATA)
    await expect.poll(() => entered.open).toBe(0)
    for (let s = 0; s < 50; s += 5) {
      clock.advance(5_000)
      await expect.poll(() => raw.socket.readableLength).toBe(0)
    }
    expect(raw.received).not.toContain(GOAWAY)
    clock.advance(15_000)
    await raw.closed
  })

  it.each([true, false])(
    'H2: a peer that answers no ping is disconnected after 40 s, dead: %s',
    async (isDead) => {
      const raw = await openRaw(port, { isDead })
      raw.send(
        frame(HEADERS, END_HEADERS, 1, fields(callOf('/grpc.health.v1.Health/Watch'))),
        frame(DATA, END_STREAM, 1, messageOf(new Uint8Array())),
      )
      await expect.poll(() => raw.received).toContain(DATA)
      for (let at = 1; at <= 3; at++) {
        clock.advance(20_000)
        if (isDead && at > 1) break
        await expect.poll(() => raw.received.filter((type) => type === PING).length).toBe(at)
        // The answer to the ping has arrived when the server answers the next frame.
        const before = raw.received.length
        raw.send(frame(PING, 0, 0, new Uint8Array(8)))
        await expect.poll(() => raw.received.length).toBeGreaterThan(before)
      }
      if (isDead) await raw.closed
      expect(raw.socket.destroyed).toBe(isDead)
      raw.socket.destroy()
      await expect.poll(() => entered.open).toBe(0)
    },
  )

  it('end when the server stops: open streams first say so', async () => {
    const health = openGrpcClient(`127.0.0.1:${port}`, 'grpc.health.v1.Health')
    const stream = health.stream('watch', {})
    await new Promise((resolve) => stream.once('data', resolve))
    const ended = new Promise<Loose>((resolve) => stream.once('error', resolve))
    await listener.close(50)
    expect((await ended).code).toBe(status.UNAVAILABLE)
    health.close()
  })

  it('end when the server stops, also those of clients that never hang up', async () => {
    const raw = await openRaw(port)
    raw.send(
      frame(HEADERS, END_HEADERS, 1, fields(callOf('/grpc.health.v1.Health/Watch'))),
      frame(DATA, END_STREAM, 1, messageOf(new Uint8Array())),
    )
    await expect.poll(() => raw.received).toContain(DATA)
    raw.socket.pause()
    await listener.close(20)
    raw.socket.destroy()
  })

  it('other than gRPC are told to use HTTP/1.1', async () => {
    const raw = await openRaw(port)
    raw.send(
      frame(
        HEADERS,
        END_HEADERS + END_STREAM,
        1,
        fields({ ...callOf('/'), ':method': 'GET', 'content-type': 'text/html' }),
      ),
    )
    await expect.poll(() => raw.received).toContain(DATA)
    expect(calls).toBe(0)
    raw.socket.destroy()
  })
})

describe('messages that cost more than their size', () => {
  const { input: send } = methodNamed(A2A_SERVICE, 'SendMessage', 'unary')
  const call = async (bytes: Uint8Array): Promise<Loose> => {
    const { Client, credentials } = await import('@grpc/grpc-js')
    const raw = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
    const same = (one: Buffer): Buffer => one
    const error = await new Promise((resolve) =>
      raw.makeUnaryRequest(
        '/lf.a2a.v1.A2AService/SendMessage',
        same,
        same,
        Buffer.from(bytes),
        resolve,
      ),
    )
    raw.close()
    return error
  }
  const withData = (data: Loose): Uint8Array =>
    toBinary(
      send,
      fromJson(send, { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] } }),
    )

  it.each([
    ['60,000 values', () => withData(Array.from({ length: 60_000 }, () => true)), 'values'],
    [
      '10,001 names',
      () => withData(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`n${at}`, 1]))),
      'names',
    ],
    ['70 levels', () => withData(Array.from({ length: 70 }).reduce((inner) => [inner], 1)), 'deep'],
    ['__proto__', () => withData(JSON.parse('{"__proto__": 1}')), '__proto__'],
    ['no protobuf', () => new Uint8Array([255, 255, 255]), 'not valid'],
  ] as const)('%s are refused', async (_, bytes, text) => {
    const error = await call(bytes())
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT })
    expect(error.details).toContain(text)
    expect(calls).toBe(0)
  })
})
