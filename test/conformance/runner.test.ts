import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createRest } from '../../conformance/dialects/rest.ts'
import { fromV03, toV03Params, toV03Proto } from '../../conformance/dialects/v03-shapes.ts'
import { canonical, signatureProblem } from '../../conformance/runner/card-signature.ts'
import { openStream } from '../../conformance/runner/sse.ts'
import { at, fill } from '../../conformance/values.ts'

function streamOf(...chunks: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

describe('the stream reader', () => {
  test('joins frames that arrive in pieces and passes over comments', async () => {
    const stream = await openStream(
      streamOf(
        ': hb\n\nid: 1\ndata: {"task":',
        ' {"id":"t"}}\n',
        '\n: hb\n\ndata: {"statusUpdate":{}}\n\n',
      ),
      createRest('1.0'),
    )
    await stream.until(stream.closed, 1_000)
    expect(stream.frames.map(({ id, event }) => [id, event])).toEqual([
      ['1', { task: { id: 't' } }],
      [undefined, { statusUpdate: {} }],
    ])
  })

  test('tells an end from a deadline', async () => {
    const open = new Response(new ReadableStream(), {
      headers: { 'content-type': 'text/event-stream' },
    })
    const stream = await openStream(open, createRest('1.0'))
    expect(await stream.until(() => stream.frames.length > 0, 10)).toBe(false)
    expect(stream.closed()).toBe(false)
    stream.cancel()
  })
})

describe('captures', () => {
  const vars = { first: { task: { id: 't-1', n: 7 } } }

  test('keep the type when they are the whole value, and become text inside one', () => {
    expect(fill({ a: '$first.task.n', b: '/tasks/{first.task.id}:cancel' }, vars)).toEqual({
      a: 7,
      b: '/tasks/t-1:cancel',
    })
  })

  test('leave JSON text alone', () => {
    expect(fill('{"a":{"b":1}}', vars)).toBe('{"a":{"b":1}}')
  })

  test('are fresh each time they ask for a new id', () => {
    expect(fill('m-{new.id}', {})).not.toBe(fill('m-{new.id}', {}))
  })
})

describe('the 0.3 dialect', () => {
  const message = {
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [
      { text: 'x' },
      { raw: 'AA==', filename: 'f', mediaType: 'text/plain' },
      { data: { a: 1 } },
    ],
  }

  test('writes kinds and lower-case roles on JSON-RPC', () => {
    expect(toV03Params('send', { message, configuration: { returnImmediately: true } })).toEqual({
      message: {
        kind: 'message',
        messageId: 'm',
        role: 'user',
        parts: [
          { kind: 'text', text: 'x' },
          { kind: 'file', file: { bytes: 'AA==', name: 'f', mimeType: 'text/plain' } },
          { kind: 'data', data: { a: 1 } },
        ],
      },
      configuration: { blocking: false },
    })
  })

  test('writes the ProtoJSON of its proto on REST', () => {
    expect(at(toV03Proto('send', { message }, { message }), 'message.content')).toEqual([
      { text: 'x' },
      { file: { fileWithBytes: 'AA==', name: 'f', mimeType: 'text/plain' } },
      { data: { data: { a: 1 } } },
    ])
  })

  test('reads both spellings as the same task', () => {
    const kinds = {
      kind: 'task',
      id: 't',
      contextId: 'c',
      status: { state: 'canceled' },
      history: [
        { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] },
      ],
    }
    const proto = {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_CANCELLED' },
      history: [{ messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] }],
    }
    expect(fromV03('get', kinds)).toEqual(fromV03('get', proto))
    expect(fromV03('send', kinds)).toEqual({ task: fromV03('get', kinds) })
    expect(fromV03('send', { task: proto })).toEqual({ task: fromV03('get', proto) })
  })
})

describe('card signatures', () => {
  test('hold over the canonical card without them, and no longer when it changed', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] }
    const server = createServer((_, response) => response.end(JSON.stringify(keys)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const jku = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const card = { name: 'a', capabilities: { b: 1, a: [1, 'x'] } }
    const head = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'k', jku })).toString('base64url')
    const payload = Buffer.from(canonical(card)).toString('base64url')
    const signature = sign('sha256', Buffer.from(`${head}.${payload}`), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    }).toString('base64url')
    const signatures = [{ protected: head, signature }]
    expect(await signatureProblem({ ...card, signatures })).toBeUndefined()
    expect(await signatureProblem({ ...card, name: 'b', signatures })).toContain('does not hold')
    await new Promise((resolve) => server.close(resolve))
    expect(
      createHash('sha256')
        .update(canonical({ b: 1, a: 2 }))
        .digest('hex'),
    ).toBe(createHash('sha256').update('{"a":2,"b":1}').digest('hex'))
  })
})
