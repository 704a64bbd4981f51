import { expect, it } from 'vitest'
import { readEvents, type ServerEvent } from './event-reader.ts'

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<readonly ServerEvent[]> {
  const encoder = new TextEncoder()
  async function* body() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk
  }
  const events: ServerEvent[] = []
  for await (const event of readEvents(body())) events.push(event)
  return events
}

it('reads ids and data, and leaves comments out', async () => {
  expect(await read('id: 1.0\ndata: a\n\n: still here\n\ndata: b\ndata: c\n\n')).toEqual([
    { id: '1.0', data: 'a' },
    { id: '1.0', data: 'b\nc' },
  ])
})

it('does not care where the chunks end', async () => {
  const bytes = new TextEncoder().encode('id: 7.1\r\ndata: ö€\r\n\r\n')
  const single = [...bytes].map((byte) => Uint8Array.of(byte))
  expect(await read(...single)).toEqual([{ id: '7.1', data: 'ö€' }])
})

it('drops an event the connection broke off', async () => {
  expect(await read('data: whole\n\ndata: ha')).toEqual([{ id: '', data: 'whole' }])
})
