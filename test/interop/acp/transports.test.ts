/** `/acp` on a server, over the SDK's own transports: the same day as over stdio, and a server that is killed in between. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Any } from './generations.ts'
import { allow, type Harness, openHarness, quiescing, said, script } from './harness.ts'
import { type Server, startServer } from './server.ts'
import { connectTo, type Remote, transports } from './transports.ts'

let harness: Harness
let server: Server
beforeEach(async () => {
  harness = openHarness()
  server = await startServer(harness)
})
afterEach(async () => {
  await server.kill()
  await harness.close()
})

const steps = [{ step: 'one' }, { step: 'two', ms: 1 }, { step: 'three' }, { complete: 'Done.' }]
const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }

describe.each(transports)('$name', (transport) => {
  async function arrive(): Promise<Remote> {
    const client = harness.record(connectTo(server.url, transport, { permission: allow }))
    await harness.initialize(client)
    return client
  }
  const prompt = (client: Remote, sessionId: string, ...ops: readonly object[]): Promise<Any> =>
    client.request('session/prompt', { sessionId, prompt: script(...ops) })

  it('prompts, asks, cancels, suspends, and goes on in the next server', async () => {
    const client = await arrive()
    const sessionId = await harness.open(client)
    const ops = [{ say: 'Looking.' }, consent, { complete: 'Deleted.' }]
    expect(await prompt(client, sessionId, ...ops)).toMatchObject({ stopReason: 'end_turn' })
    await expect.poll(() => said(client)).toEqual(['Looking.', 'Deleted.'])

    const long = prompt(client, sessionId, { step: 'long', ms: 2 })
    await harness.began('long')
    await client.notify('session/cancel', { sessionId })
    expect(await long).toMatchObject({ stopReason: 'cancelled' })

    const prompted = prompt(client, sessionId, ...steps)
    await harness.began('two')
    const suspending = client.request('_session/suspend', { sessionId })
    await quiescing(client)
    harness.openGate(1)
    const { handle } = await suspending
    expect((await prompted)._meta.lull.suspend).toMatchObject({ state: 'suspended', handle })

    await server.kill()
    server = await startServer(harness)
    const again = await arrive()
    const { sessions } = await again.request('session/list', {})
    expect(sessions).toMatchObject([{ sessionId, _meta: { lull: { suspend: { handle } } } }])
    await again.request('session/load', { sessionId, cwd: harness.cwd, mcpServers: [] })
    expect(said(again)).toEqual(['Looking.', 'Deleted.'])
    await again.request('_session/wake', { sessionId, handle })
    await expect.poll(() => said(again)).toContain('Done.')
    expect(['one', 'two', 'three'].map(harness.ended)).toEqual([1, 1, 1])
    await again.hangUp()
  })
})
