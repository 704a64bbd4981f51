import { expect, it } from 'vitest'
import { chunksOf, readEvents, type ServerEvent } from './event-reader.ts'

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<readonly ServerEvent[]> {
  const encoder = new TextEncoder()
  async function* body() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk
  }
  const events: ServerEvent[] = []
  for await (const event of readEvents(body())) events.push(event)
  return events
}

const type = 'message'

it('reads ids, types and data, and leaves comments out', async () => {
  const text = 'id: 1.0\ndata: a\n\n: still here\n\nevent: error\ndata: b\ndata: c\n\ndata: d\n\n'
  expect(await read(text)).toEqual([
    { id: '1.0', type, data: 'a' },
    { id: '1.0', type: 'error', data: 'b\nc' },
    { id: '1.0', type, data: 'd' },
  ])
})

it('does not care where the chunks end', async () => {
  const bytes = new TextEncoder().encode('id: 7.1\r\ndata: ö€\r\n\r\n')
  const single = [...bytes].map((byte) => Uint8Array.of(byte))
  expect(await read(...single)).toEqual([{ id: '7.1', type, data: 'ö€' }])
})

it('drops an event the connection broke off', async () => {
  expect(await read('data: whole\n\ndata: ha')).toEqual([{ id: '', type, data: 'whole' }])
})

it('gives up a body that says nothing any more, and lets go of it', async () => {
  let canceled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Uint8Array.of(1)),
    cancel() {
      canceled = true
    },
  })
  const chunks = chunksOf(body, 5, undefined)
  expect((await chunks.next()).value).toEqual(Uint8Array.of(1))
  await expect(chunks.next()).rejects.toThrow('nothing arrived for 0.005 s')
  expect(canceled).toBe(true)
})

it('lets go of a body whose request was aborted, also when the body does not notice', async () => {
  let canceled = false
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      canceled = true
    },
  })
  const aborting = new AbortController()
  const next = chunksOf(body, 3_600_000, aborting.signal).next()
  aborting.abort(new Error('enough'))
  await expect(next).rejects.toThrow('enough')
  expect(canceled).toBe(true)
})

it('reads nothing for a request that was aborted before', async () => {
  const body = new ReadableStream<Uint8Array>()
  const chunks = chunksOf(body, 3_600_000, AbortSignal.abort(new Error('enough')))
  await expect(chunks.next()).rejects.toThrow('enough')
})
