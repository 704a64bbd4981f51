import { describe, expect, it } from 'vitest'
import { envelopeOf, errorText, parseRequest } from './json-rpc.ts'

const good = { jsonrpc: '2.0', id: 1, method: 'm', params: {} }

describe('a JSON-RPC request', () => {
  it('is read whole', () => {
    expect(parseRequest(good)).toEqual({
      request: { id: 1, method: 'm', params: {} },
    })
    expect(parseRequest({ jsonrpc: '2.0', id: 'a', method: 'm' })).toEqual({
      request: { id: 'a', method: 'm', params: undefined },
    })
  })

  it('without an id is answered as one with the id null', () => {
    expect(parseRequest({ jsonrpc: '2.0', method: 'm' })).toMatchObject({ request: { id: null } })
  })

  it.each([
    ['an empty object', {}, null, -32600],
    ['a batch', [good], null, -32600],
    ['an empty batch', [], null, -32600],
    ['a string', 'x', null, -32600],
    ['null', null, null, -32600],
    ['another version', { ...good, jsonrpc: '1.0' }, 1, -32600],
    ['no version', { id: 7, method: 'm' }, 7, -32600],
    ['an id of the wrong type', { ...good, id: { a: 1 } }, null, -32600],
    ['no method', { jsonrpc: '2.0', id: 2 }, 2, -32600],
    ['a method of the wrong type', { ...good, method: 5 }, 1, -32600],
    ['params that are text', { ...good, params: 'x' }, 1, -32602],
    ['params that are a list', { ...good, params: [] }, 1, -32602],
    ['params that are null', { ...good, params: null }, 1, -32602],
  ])('is refused as %s', (_what, value, id, code) => {
    expect(parseRequest(value)).toMatchObject({ id, error: { code } })
  })
})

describe('a JSON-RPC answer', () => {
  it('carries the id as it was given', () => {
    expect(JSON.parse(envelopeOf('a"b')('{"x":1}'))).toEqual({
      jsonrpc: '2.0',
      id: 'a"b',
      result: { x: 1 },
    })
    expect(JSON.parse(errorText(null, { code: -32700, message: 'm' }))).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: 'm' },
    })
  })
})
