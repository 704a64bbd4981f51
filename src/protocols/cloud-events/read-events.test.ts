import { describe, expect, it } from 'vitest'
import { readEvents } from './read-events.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const required = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 'ci', 'ce-type': 'done' }
const attributes = { specversion: '1.0', id: '1', source: 'ci', type: 'done' }

function read(headers: Record<string, string>, body: string | Uint8Array = '') {
  const raw = typeof body === 'string' ? bytes(body) : body
  const found = readEvents(new Headers(headers), raw)
  if (found.unsupported !== undefined) throw new Error(`unsupported: ${found.unsupported}`)
  return found.events
}

const refused = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return (error as { details?: unknown }).details
  }
  return undefined
}

/** The text as a server gets it in a header: one character per byte of its UTF-8. */
function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}

describe('binary mode', () => {
  it.each([
    ['JSON', 'application/json', '{"a": [1]}', { data: { a: [1] } }],
    ['JSON of another kind', 'application/vnd.ci+json; charset=utf-8', '7', { data: 7 }],
    ['nothing but null', 'application/json', 'null', { data: null }],
    ['text', 'text/plain', 'grün', { data: 'grün' }],
    ['bytes', 'application/octet-stream', new Uint8Array([0, 255]), { data_base64: 'AP8=' }],
    ['text that is no UTF-8', 'text/plain', new Uint8Array([255]), { data_base64: '/w==' }],
    ['nothing', 'application/json', '', {}],
  ])('reads %s', (_, type, body, data) => {
    const event = { ...attributes, datacontenttype: type, ...data }
    expect(read({ ...required, 'content-type': type }, body)).toEqual([event])
  })

  it('takes a body that says not what it is for JSON, as the JSON format does', () => {
    expect(read(required, '{"a": 1}')).toEqual([{ ...attributes, data: { a: 1 } }])
  })

  it.each([
    ['a%20b', 'a b'],
    ['100%25', '100%'],
    ['Eur%C3%B3pa%20%E2%82%AC', 'Európa €'],
    ['%41', 'A'],
    ['%2520', '%20'],
    ['"in quotes"', 'in quotes'],
    ['"with \\"more\\" and \\\\"', 'with "more" and \\'],
    ['"%C3%BC"', 'ü'],
    ['a"b', 'a"b'],
    [asBytes('Európa €'), 'Európa €'],
    [asBytes('100 % grün'), '100 % grün'],
  ])('reads the header %s as %s', (given, meant) => {
    expect(read({ ...required, 'ce-subject': given })).toEqual([{ ...attributes, subject: meant }])
  })

  it.each([
    ['half a code', { 'ce-subject': '%4' }, 'ce-subject'],
    ['a bare percent sign', { 'ce-subject': '100%' }, 'ce-subject'],
    ['an overlong space', { 'ce-subject': '%C0%A0' }, 'ce-subject'],
    ['bytes that are not UTF-8', { 'ce-subject': 'gr\u00fcn' }, 'ce-subject'],
    ['a control character beside UTF-8', { 'ce-subject': asBytes('\u007f €') }, 'ce-subject'],
    ['the type of the data twice', { 'ce-datacontenttype': 'text/plain' }, 'ce-datacontenttype'],
    ['data in a header', { 'ce-data': 'x' }, 'ce-data'],
    ['another version', { 'ce-specversion': '0.3' }, 'specversion'],
  ])('refuses %s', (_, headers, path) => {
    expect(refused(() => read({ ...required, ...headers }))).toMatchObject({ path })
  })

  it('refuses an event without a version, and JSON that is none', () => {
    const { 'ce-specversion': _, ...without } = required
    expect(refused(() => read(without))).toMatchObject({ path: 'specversion' })
    const json = { ...required, 'content-type': 'application/json' }
    expect(refused(() => read(json, '{'))).toEqual({
      path: 'data',
      problem: 'The body is not valid JSON',
    })
  })
})

describe('structured and batched mode', () => {
  it('win over headers that look like binary mode', () => {
    const headers = { ...required, 'ce-id': '2', 'content-type': 'application/cloudevents+json' }
    expect(read(headers, JSON.stringify(attributes))).toEqual([attributes])
  })

  it('name the event of a batch that is wrong', () => {
    const headers = { 'content-type': 'application/cloudevents-batch+json; charset=UTF-8' }
    const batch = JSON.stringify([attributes, { ...attributes, specversion: '2.0' }])
    expect(refused(() => read(headers, batch))).toMatchObject({ path: 'events.1.specversion' })
    expect(refused(() => read(headers, '{}'))).toMatchObject({ path: '' })
    expect(read(headers, '[]')).toEqual([])
  })
})

it.each([
  ['no media type', {}],
  ['plain JSON', { 'content-type': 'application/json' }],
  ['another format', { 'content-type': 'application/cloudevents+xml' }],
  [
    'a batch in another format, whatever its headers',
    { ...required, 'content-type': 'application/cloudevents-batch+avro' },
  ],
])('says what to send where there is %s', (_, headers) => {
  const found = readEvents(new Headers(headers), bytes('{}'))
  expect(found.unsupported).toContain('application/cloudevents+json')
})
