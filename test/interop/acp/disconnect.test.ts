/**
 * A client that goes away, at every moment: it detaches, and nothing is lost. Over stdio the agent's process ends with it;
 * over WebSocket and HTTP the server stays and goes on working.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Answers, Any, Peer } from './generations.ts'
import { allow, type Harness, openHarness, quiescing, said, script } from './harness.ts'
import { type Server, startServer } from './server.ts'
import { connectTo, transports } from './transports.ts'

interface Client extends Peer {
  hangUp(): Promise<void>
}

let harness: Harness
let server: Server | undefined
beforeEach(() => {
  harness = openHarness()
})
afterEach(async () => {
  await server?.kill()
  server = undefined
  await harness.close()
})

const remote = (transport: (typeof transports)[number] | undefined) => async (answers: Answers) => {
  server ??= await startServer(harness)
  return harness.record(connectTo(server.url, transport!, answers))
}
const wires: Readonly<Record<string, (answers: Answers) => Promise<Client>>> = {
  stdio: async (answers) => harness.connect('2.4.0', answers),
  WebSocket: remote(transports[0]),
  HTTP: remote(transports[1]),
}

describe.each(Object.entries(wires))('a client that hangs up, over %s,', (_wire, connect) => {
  async function arrive(answers: Answers = {}): Promise<Client> {
    const client = await connect(answers)
    await harness.initialize(client)
    return client
  }
  const attach = (client: Client, method: string, sessionId: string): Promise<Any> =>
    client.request(method, { sessionId, cwd: harness.cwd, mcpServers: [] })
  const prompt = (client: Client, sessionId: string, ...ops: readonly object[]): Promise<Any> =>
    client.request('session/prompt', { sessionId, prompt: script(...ops) })
  /** What a client that is gone waited for, it never hears. */
  const unheard = (answer: Promise<Any>): Promise<void> => expect(answer).rejects.toThrow(/closed/i)

  it('after initialize: the next one finds an agent as new', async () => {
    await (await arrive()).hangUp()
    const next = await arrive()
    expect(await next.request('session/list', {})).toMatchObject({ sessions: [] })
    const sessionId = await harness.open(next)
    expect(await prompt(next, sessionId, { complete: 'Fine.' })).toMatchObject({
      stopReason: 'end_turn',
    })
  })

  it('in the middle of a prompt: its task goes on, each step once', async () => {
    const first = await arrive()
    const sessionId = await harness.open(first)
    const steps = [{ step: 'one' }, { step: 'two', ms: 1 }, { step: 'three' }]
    const prompted = prompt(first, sessionId, ...steps, { complete: 'Done.' })
    await harness.began('two')
    const lost = unheard(prompted)
    await first.hangUp()
    await lost
    harness.openGate(1)
    const next = await arrive()
    await attach(next, 'session/load', sessionId)
    await expect.poll(() => said(next)).toEqual(['Done.'])
    expect(['one', 'two', 'three'].map(harness.ended)).toEqual([1, 1, 1])
  })

  it('while it is asked for permission: the next one is asked again, the same', async () => {
    const asked: Any[] = []
    const first = await arrive({
      permission: (params) => {
        asked.push(params)
        return new Promise(() => undefined)
      },
    })
    const sessionId = await harness.open(first)
    const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }
    const lost = unheard(prompt(first, sessionId, consent, { complete: 'Deleted.' }))
    await expect.poll(() => asked).toHaveLength(1)
    await first.hangUp()
    await lost
    const next = await arrive({
      permission: (params) => {
        asked.push(params)
        return allow(params)
      },
    })
    await attach(next, 'session/resume', sessionId)
    await expect.poll(() => said(next)).toEqual(['Deleted.'])
    expect(asked).toHaveLength(2)
    expect(asked[1]).toEqual(asked[0])
  })

  it('while suspended: it stays suspended, and the handle is good for the next one', async () => {
    const first = await arrive()
    const sessionId = await harness.open(first)
    const prompted = prompt(first, sessionId, { step: 'one', ms: 1 }, { complete: 'Done.' })
    await harness.began('one')
    const suspending = first.request('_session/suspend', { sessionId })
    await quiescing(first)
    harness.openGate(1)
    const { handle } = await suspending
    await prompted
    await first.hangUp()
    const next = await arrive()
    const { sessions } = await next.request('session/list', {})
    expect(sessions[0]._meta.lull.suspend).toMatchObject({ state: 'suspended', handle })
    const { _meta } = await attach(next, 'session/resume', sessionId)
    expect(_meta.lull.suspend).toMatchObject({ state: 'suspended', handle })
    await next.request('_session/wake', { sessionId, handle })
    await expect.poll(() => said(next)).toEqual(['Done.'])
  })

  it('in the middle of loading: the next one is told everything, in order', async () => {
    const first = await arrive()
    const sessionId = await harness.open(first)
    const lines = Array.from({ length: 300 }, (_, index) => `Line ${index}.`)
    await prompt(first, sessionId, ...lines.map((say) => ({ say })))
    await first.hangUp()
    const second = await arrive()
    const lost = attach(second, 'session/load', sessionId).catch(() => undefined)
    await expect.poll(() => said(second).length, { interval: 0 }).toBeGreaterThan(0)
    await second.hangUp()
    await lost
    const third = await arrive()
    await attach(third, 'session/load', sessionId)
    await expect.poll(() => said(third)).toEqual(lines)
  })
})
