/** What `receive` throws or returns wrongly is a clear failure of that call alone, and it is logged. */
import { describe, expect, it } from 'vitest'
import { type AgentDefinition, agent } from '../../author/agent.ts'
import { alice, createHarness, message } from '../../test-support/engine-harness.ts'

type Receive = NonNullable<AgentDefinition['receive']>

const unreadable = (): object =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('not readable')
      },
      getPrototypeOf: () => {
        throw new Error('not readable')
      },
    },
  )

const throwing: Readonly<Record<string, () => unknown>> = {
  'a proxy that throws': unreadable,
  'an object without a prototype': () => Object.create(null),
  'an HTTP response': () => new Response('', { status: 502, statusText: 'Bad Gateway' }),
  nothing: () => undefined,
}

const returning: Readonly<Record<string, unknown>> = {
  'a number': 5,
  'another kind': { kind: 'answer' },
  'a rejection without a text': { kind: 'reject', why: unreadable() },
  'a proxy that throws': unreadable(),
}

async function sentTo(receive: Receive) {
  const receiver = agent({ name: 'receiver', description: 'receives', receive, run: () => 'done' })
  const harness = await createHarness({ agents: [receiver] })
  const sent = harness.engine.send(alice, { message: message('hello') }).then(
    ({ kind }) => kind,
    (error: unknown) => error,
  )
  return { harness, sent: await sent }
}

describe('receive', () => {
  it.each(Object.entries(throwing))('throws %s: the call fails with a text', async (_, make) => {
    const { harness, sent } = await sentTo(() => {
      throw make()
    })
    expect(sent).toBeInstanceOf(Error)
    expect(String(sent)).toContain('Agent receiver failed to receive the message: ')
    expect(harness.said.map(({ level, text, facts }) => [level, text, facts?.['agent']])).toEqual([
      ['error', 'an agent failed to receive a message', 'receiver'],
    ])
  })

  it.each(Object.entries(returning))('returns %s: the call fails', async (_, value) => {
    const { harness, sent } = await sentTo(() => value as ReturnType<Receive>)
    expect(String(sent)).toContain('Agent receiver failed to receive the message: ')
    expect(harness.said.map(({ text }) => text)).toEqual(['an agent failed to receive a message'])
  })
})
