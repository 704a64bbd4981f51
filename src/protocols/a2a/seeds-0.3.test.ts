/**
 * A2A 0.3 as the seeds write it. Normalisations against the seed: ids and instants are ours, `status.message` is a
 * Message and not a string, `history` and `metadata` may be there in addition.
 */
import { describe, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  textMessage,
} from './test-support/test-server.ts'

const travel = agent({
  name: 'travel',
  description: 'Books flights',
  acceptTextConsent: (text) => (/i consent/i.test(text) ? true : undefined),
  async run(task) {
    await task.requireConsent({
      prompt: 'Please confirm consent to proceed with booking the flight.',
      operation: { book: 'flight' },
    })
    await task.artifact({
      name: 'flight_confirmation.pdf',
      description: 'Flight booking confirmation for Helsinki.',
      base64: 'JVBERg==',
      mediaType: 'application/pdf',
    })
  },
})

describe('A2A 0.3 in the words of the seeds', () => {
  it('asks for consent and takes it by reference', async () => {
    const testServer = await openTestServer({ agents: [travel] })
    const contextId = 'ctx-travel-xyz'
    const user = (messageId: string, text: string, some = {}) => ({
      role: 'user',
      parts: [{ kind: 'text', text }],
      messageId,
      contextId,
      ...some,
    })
    const asked = await testServer.ok('0.3', 'message/send', {
      message: user('msg-user-003', 'Book a flight to Helsinki for next week.'),
    })
    expect(asked).toMatchObject({
      id: expect.any(String),
      contextId,
      status: {
        state: 'user-consent-required',
        message: {
          kind: 'message',
          role: 'agent',
          parts: [
            { kind: 'text', text: 'Please confirm consent to proceed with booking the flight.' },
          ],
        },
      },
      artifacts: [],
      kind: 'task',
    })
    const referenceTaskIds = [asked.id]
    const done = await testServer.ok('0.3', 'message/send', {
      message: user('msg-user-004', 'I consent to booking the flight.', { referenceTaskIds }),
    })
    expect(done).toMatchObject({
      id: asked.id,
      contextId,
      status: { state: 'completed' },
      artifacts: [
        {
          artifactId: expect.any(String),
          name: 'flight_confirmation.pdf',
          description: 'Flight booking confirmation for Helsinki.',
          parts: [
            {
              kind: 'file',
              file: {
                name: 'flight_confirmation.pdf',
                mimeType: 'application/pdf',
                bytes: 'JVBERg==',
              },
            },
          ],
        },
      ],
      kind: 'task',
    })
  })

  it('takes the older names, and no task id of the client’s own', async () => {
    const testServer = await openTestServer()
    const message = textMessage('0.3', 'hi')
    expect(await testServer.ok('0.3', 'tasks/send', { message })).toMatchObject({ kind: 'task' })
    const stream = await testServer.stream('0.3', 'tasks/sendSubscribe', { message })
    expect((await stream.next()).value?.data.result.kind).toBe('task')
    await stream.return()
    const own = { id: 'task-of-mine', message }
    expect((await testServer.rpc('0.3', 'tasks/send', own)).error.code).toBe(-32001)
    const inside = { message: { ...message, taskId: 'task-of-mine' } }
    expect((await testServer.rpc('0.3', 'message/send', inside)).error.code).toBe(-32001)
  })

  it('reads every kind of part, with and without kind, and writes them back', async () => {
    const testServer = await openTestServer()
    const parts = [
      { kind: 'text', text: 'a', metadata: { m: 1 } },
      { kind: 'data', data: { d: 1 } },
      { kind: 'file', file: { name: 'f.txt', mimeType: 'text/plain', bytes: 'YQ==' } },
      { kind: 'file', file: { mimeType: 'text/plain', uri: 'https://example.com/x' } },
    ]
    const message = { messageId: 'm', role: 'user', parts }
    const task = await testServer.ok('0.3', 'message/send', { message })
    expect(task.artifacts[0].parts).toEqual(parts)
    const bare = parts.map(({ kind: _kind, ...part }) => part)
    const again = await testServer.ok('0.3', 'message/send', {
      message: { ...message, parts: bare },
    })
    expect(again.artifacts[0].parts).toEqual(parts)
    // Older peers say `type`.
    const typed = parts.map(({ kind, ...part }) => ({ type: kind, ...part }))
    const third = await testServer.ok('0.3', 'message/send', {
      message: { ...message, parts: typed },
    })
    expect(third.artifacts[0].parts).toEqual(parts)
    const one = await testServer.ok('1.0', 'GetTask', { id: task.id })
    expect(one.artifacts[0].parts).toEqual([
      { text: 'a', metadata: { m: 1 } },
      { data: { d: 1 } },
      { raw: 'YQ==', filename: 'f.txt', mediaType: 'text/plain' },
      { url: 'https://example.com/x', mediaType: 'text/plain' },
    ])
  })

  it.each([
    ['a part of no kind', [{ kind: 'song', song: 'la' }], '.0.kind'],
    ['a kind that is no word', [{ kind: ['text'], text: 'x' }], '.0.kind'],
    ['an unknown type, whatever else it holds', [{ type: 'song', text: 'la' }], '.0.type'],
    ['a part that is nothing', [{ kind: 'text', text: 'x' }, {}], '.1'],
    ['a text part without text', [{ kind: 'text' }], '.0'],
    ['a data part with text', [{ type: 'data', text: 'x' }], '.0'],
    ['a file part without a file', [{ kind: 'file' }], '.0'],
    ['a file that is both', [{ kind: 'file', file: { bytes: 'YQ==', uri: 'https://x' } }], '.0'],
    ['bytes that are not base64', [{ kind: 'file', file: { bytes: '<bytes>' } }], '.0'],
    ['no parts', [], ''],
  ])('refuses %s', async (_what, parts, path) => {
    const testServer = await openTestServer()
    const answer = await testServer.rpc('0.3', 'message/send', {
      message: { messageId: 'm', role: 'user', parts },
    })
    expect(answer.error).toMatchObject({
      code: -32602,
      data: { path: expect.stringMatching(`^message\\.parts${path.replaceAll('.', '\\.')}`) },
    })
    expect((await testServer.engine.list(anyone)).total).toBe(0)
  })

  it('names stopped states as the RFC does, or by core states where the operator says so', async () => {
    const message = scripted('0.3', [{ park: { reason: 'r' } }])
    const consent = scripted('0.3', [{ consent: { prompt: 'p', operation: 1 } }])
    const states = async (v03States: 'rfc' | 'core') => {
      const testServer = await openTestServer({ a2a: { config: { v03States } } })
      // With core states a blocking send would wait for the end of a task that parks.
      const configuration = { blocking: false }
      const { id } = await testServer.ok('0.3', 'message/send', { message, configuration })
      const caller = { tenant: 'default', principal: 'anonymous' }
      await testServer.engine.waitFor(caller, id, ({ state }) => state === 'paused-by-agent')
      const parked = await testServer.ok('0.3', 'tasks/get', { id })
      const asked = await testServer.ok('0.3', 'message/send', { message: consent })
      return [parked.status.state, asked.status.state]
    }
    expect(await states('rfc')).toEqual(['paused-by-agent', 'user-consent-required'])
    expect(await states('core')).toEqual(['working', 'input-required'])
  })

  it('lists over REST, and knows how the docs spell canceled', async () => {
    const testServer = await openTestServer()
    const params = { message: scripted('0.3', [{ ask: '?' }]) }
    const { id } = await testServer.ok('0.3', 'message/send', params)
    await testServer.ok('0.3', 'tasks/cancel', { id })
    const list = (await (
      await testServer.fetch('GET', '/v1/tasks?status=cancelled')
    ).json()) as Loose
    expect(list.tasks.map((task: Loose) => [task.kind, task.status.state])).toEqual([
      [undefined, 'TASK_STATE_CANCELLED'],
    ])
  })
})
