/** The `input` of an agent: a message is checked before its task exists. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Part } from '../../core/messages/message.ts'
import { agent } from '../author/agent.ts'
import type { StandardSchemaV1 } from '../author/standard-schema.ts'
import {
  alice,
  createHarness,
  dataOf,
  message,
  olga,
  running,
} from '../test-support/engine-harness.ts'

const order = z.object({ city: z.string().min(2), nights: z.coerce.number().default(1) })

/** Books what it is told, and shows the input it got. */
const booker = agent({
  name: 'booker',
  description: 'Books',
  input: order,
  run: async (task) => {
    await task.artifact({ name: 'input', data: task.input })
    await task.park({ reason: 'x' })
    await task.artifact({ name: 'again', data: task.input })
    return `${task.input.nights + 0} nights in ${task.input.city}`
  },
})

describe('an agent with an input schema', () => {
  it.each<[string, string | readonly Part[]]>([
    ['the first data part', [{ text: 'Book' }, { data: { city: 'Oslo', nights: '2' } }]],
    ['the text, as JSON', '{"city": "Oslo", "nights": 2}'],
  ])('gets %s, as the schema gives it', async (_, content) => {
    const harness = await createHarness({ agents: [booker] })
    const { id } = await harness.send(content)
    const task = await harness.until(id, 'paused-by-agent')
    expect(dataOf(task, 'input')).toEqual({ city: 'Oslo', nights: 2 })
  })

  it.each<[string, string | readonly Part[], string]>([
    ['a wrong member', [{ text: 'Book' }, { data: { city: 'O' } }], 'message.parts.1.data.city'],
    ['a missing member', [{ data: {} }], 'message.parts.0.data.city'],
    ['a wrong member in a text', '{"city": 1}', 'message.parts.city'],
    ['a text that is no JSON', 'Oslo', 'message.parts'],
  ])('refuses %s with its path, and no task exists', async (_, content, path) => {
    const harness = await createHarness({ agents: [booker] })
    await expect(harness.send(content)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path },
    })
    expect((await harness.engine.list(olga)).tasks).toEqual([])
  })

  it('is not asked for a key that a refused message had', async () => {
    const harness = await createHarness({ agents: [booker] })
    const idempotencyKey = 'k'
    await expect(harness.send('Oslo', { idempotencyKey })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    const request = { message: message([{ data: { city: 'Oslo' } }]), idempotencyKey }
    expect(await harness.engine.send(alice, request)).toMatchObject({
      kind: 'task',
      repeated: false,
    })
  })

  it('keeps the input of a task when a later version has another schema', async () => {
    const harness = await createHarness({ agents: [booker] })
    const { id } = await harness.send([{ data: { city: 'Oslo' } }])
    await harness.until(id, 'paused-by-agent')
    const strict = agent({
      ...booker,
      input: z.object({ town: z.string() }),
    })
    const next = await harness.recover({ agents: [strict] })
    await next.engine.resume(alice, { taskId: id })
    expect(dataOf(await next.until(id, 'completed'), 'again')).toEqual({ city: 'Oslo', nights: 1 })
  })

  it('takes a text where the schema wants one', async () => {
    const echo = agent({
      name: 'echo',
      description: 'x',
      input: z.string().max(5),
      run: (task) => task.input.toUpperCase(),
    })
    const harness = await createHarness({ agents: [echo] })
    const done = await harness.ended((await harness.send('12345')).id)
    expect(done.statusMessage?.parts).toEqual([{ text: '12345' }])
    await expect(harness.send('123456')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('waits for a schema that answers later', async () => {
    const slow: StandardSchemaV1<unknown, string> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async (value) =>
          value === 'yes' ? { value: 'slow yes' } : { issues: [{ message: 'must be yes' }] },
      },
    }
    const agents = [agent({ name: 'a', description: 'x', input: slow, run: (task) => task.input })]
    const harness = await createHarness({ agents })
    const done = await harness.ended((await harness.send('yes')).id)
    expect(done.statusMessage?.parts).toEqual([{ text: 'slow yes' }])
    await expect(harness.send('no')).rejects.toMatchObject({ details: { problem: 'must be yes' } })
  })

  it('checks the message after receive has let it pass', async () => {
    const agents = [
      agent({
        name: 'a',
        description: 'x',
        input: order,
        receive: ({ parts }, { reply }) => (parts.length === 2 ? reply('hello') : undefined),
        run: (task) => task.input.city,
      }),
    ]
    const harness = await createHarness({ agents })
    const chat = { message: message([{ text: 'hi' }, { text: 'there' }]) }
    expect(await harness.engine.send(alice, chat)).toMatchObject({ kind: 'message' })
    await expect(harness.send('Oslo')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect((await harness.send([{ data: { city: 'Oslo' } }])).input).toEqual({
      city: 'Oslo',
      nights: 1,
    })
  })

  it('checks the message of a parent, also in a rebuilt run', async () => {
    const parent = running(
      async (task) => {
        const why = await task.delegate('booker', 'Oslo').catch((error: Error) => error.message)
        const child = await task.delegate('booker', [{ data: { city: 'Oslo' } }])
        await task.park({ reason: 'x' })
        return `${why} ${(await child.get()).id === child.id}`
      },
      { name: 'parent' },
    )
    const harness = await createHarness({ agents: [parent, booker] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const next = await harness.recover()
    await next.engine.resume(alice, { taskId: id })
    const { statusMessage } = await next.until(id, 'completed')
    expect(JSON.stringify(statusMessage?.parts)).toMatch(/message\.parts: .* true/)
  })

  it('refuses a schema that is none, and names a schema whose value is not JSON', async () => {
    expect(() => agent({ ...booker, input: {} as never })).toThrow('Standard Schema')
    const input = z.string().transform((text) => new Date(text)) as never
    const harness = await createHarness({ agents: [agent({ ...booker, input })] })
    await expect(harness.send('2026-01-01')).rejects.toThrow(
      'agent booker makes a value that is not',
    )
  })
})
