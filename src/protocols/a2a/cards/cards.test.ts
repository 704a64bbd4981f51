import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../engine/author/agent.ts'
import { type Loose, openTestServer } from '../test-support/test-server.ts'

const path = '/.well-known/agent-card.json'
const v1 = { 'a2a-version': '1.0' }

const painter = agent({
  name: 'painter',
  description: 'Paints',
  version: '2.1.0',
  skills: [{ id: 'paint', name: 'Paint', description: 'Paints a picture', tags: ['art'] }],
  run: () => 'done',
})
const plain = agent({ name: 'plain', description: 'Does', run: () => 'done' })

async function card(
  testServer: Awaited<ReturnType<typeof openTestServer>>,
  at: string,
  headers = {},
): Promise<Loose> {
  return (await testServer.fetch('GET', at, undefined, headers)).json()
}

describe('agent cards', () => {
  it('of 1.0 have the required fields and nothing that is not in the specification', async () => {
    const testServer = await openTestServer({ agents: [painter, plain] })
    const found = await card(testServer, path, v1)
    expect(found).toMatchObject({ name: 'painter', description: 'Paints', version: '2.1.0' })
    expect(found.supportedInterfaces.slice(0, 2)).toEqual([
      { url: 'http://lull.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'http://lull.test', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ])
    expect(Object.keys(found.capabilities).sort()).toEqual([
      'extendedAgentCard',
      'extensions',
      'pushNotifications',
      'streaming',
    ])
    for (const { required } of found.capabilities.extensions) expect(required).toBe(false)
    expect(found.capabilities.extensions.map((one: Loose) => one.uri)).toEqual([
      'urn:lull:a2a:task-control:1',
      'urn:lull:a2a:reminders:1',
      'urn:lull:a2a:user-consent:1',
      'urn:lull:a2a:receipts:1',
      'urn:lull:a2a:rfc-notifications:1',
    ])
    const [skill] = painter.skills ?? []
    const modes = { inputModes: found.defaultInputModes, outputModes: found.defaultOutputModes }
    expect(found.skills).toEqual([{ ...skill, ...modes }])
    for (const name of ['protocolVersion', 'url', 'preferredTransport']) {
      expect(found).not.toHaveProperty(name)
    }
  })

  it('of 0.3 carry the RFCs’ capabilities', async () => {
    const testServer = await openTestServer({ agents: [painter, plain] })
    const found = await card(testServer, path)
    expect(found).toMatchObject({
      protocolVersion: '0.3.0',
      url: 'http://lull.test/core',
      preferredTransport: 'JSONRPC',
      capabilities: {
        streaming: true,
        supportsPause: true,
        supportsAwaitResumption: true,
        resumeCauses: ['explicit_resume', 'condition_fired', 'timeout', 'external_event'],
        reminders: {
          inject: true,
          emit: true,
          propagate: ['session', 'none', 'all'],
          roleHints: ['system', 'developer'],
        },
        _meta: { harn: { pause: true, reminders: true } },
      },
    })
  })

  it('say nothing of reminders, in either version, where the agent takes none', async () => {
    const deaf = agent({ name: 'deaf', description: 'd', reminders: false, run: () => undefined })
    const testServer = await openTestServer({ agents: [deaf] })
    for (const headers of [{}, v1]) {
      const { capabilities } = await card(testServer, path, headers)
      expect(JSON.stringify(capabilities)).not.toContain('reminders:1')
      expect(capabilities).not.toHaveProperty('reminders')
      expect(JSON.stringify(capabilities)).toContain('task-control')
    }
    expect((await card(testServer, path)).capabilities._meta).toEqual({ harn: { pause: true } })
  })

  it('of 1.0 say of reminders what those of 0.3 do, as parameters of the extension', async () => {
    const testServer = await openTestServer({ agents: [painter] })
    const { reminders } = (await card(testServer, path)).capabilities
    const { extensions } = (await card(testServer, path, v1)).capabilities
    const found = extensions.find((one: Loose) => one.uri === 'urn:lull:a2a:reminders:1')
    expect(found).toMatchObject({ required: false, params: reminders })
  })

  it('asked for without a version lead a client of 1.0 to 1.0', async () => {
    const testServer = await openTestServer({ agents: [painter] })
    const found = await card(testServer, path)
    expect(found.supportedInterfaces[0]).toMatchObject({ protocolVersion: '1.0' })
  })

  it('are found at the old address and at each agent’s own, with a skill at least', async () => {
    const testServer = await openTestServer({ agents: [painter, plain] })
    expect((await card(testServer, '/.well-known/agent.json')).name).toBe('painter')
    const own = await card(testServer, `/agents/plain${path}`, v1)
    expect(own).toMatchObject({ name: 'plain', skills: [{ id: 'plain', tags: ['plain'] }] })
    expect(own.supportedInterfaces[0].url).toBe('http://lull.test/agents/plain')
    expect((await testServer.fetch('GET', `/agents/nobody${path}`)).status).toBe(404)
  })

  it('can be cached, per version', async () => {
    const testServer = await openTestServer({ agents: [painter] })
    const response = await testServer.fetch('GET', path, undefined, v1)
    expect(response.headers.get('vary')).toBe('A2A-Version, Origin')
    expect(response.headers.get('cache-control')).toMatch(/max-age=\d+/)
    const etag = response.headers.get('etag') ?? ''
    expect(etag).toMatch(/^".+"$/)
    expect(Date.parse(response.headers.get('last-modified') ?? '')).toBe(testServer.clock.now())
    const again = { ...v1, 'if-none-match': `"other", ${etag}` }
    expect((await testServer.fetch('GET', path, undefined, again)).status).toBe(304)
    expect((await testServer.fetch('GET', path, undefined, { 'if-none-match': etag })).status).toBe(
      200,
    )
    expect((await testServer.fetch('GET', path, undefined, { 'a2a-version': '7.0' })).status).toBe(
      400,
    )
    expect(await (await testServer.fetch('HEAD', path)).text()).toBe('')
  })

  it('declare how to authenticate, each version in its own words', async () => {
    const security = { apiKey: { header: 'X-API-Key' }, bearer: { format: 'JWT' } }
    const testServer = await openTestServer({ agents: [painter], a2a: { security } })
    expect(await card(testServer, path, v1)).toMatchObject({
      securitySchemes: {
        apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
        bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
      },
      securityRequirements: [
        { schemes: { apiKey: { list: [] } } },
        { schemes: { bearer: { list: [] } } },
      ],
    })
    expect(await card(testServer, path)).toMatchObject({
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header' }, bearer: { type: 'http' } },
      security: [{ apiKey: [] }, { bearer: [] }],
    })
  })

  it('can be extended for those who are known', async () => {
    const more = { id: 'secret', name: 'Secret', description: 'd', tags: ['x'] }
    const agents = { painter: { extended: { skills: [more] } } }
    const testServer = await openTestServer({ agents: [painter], a2a: { agents } })
    expect((await card(testServer, path, v1)).capabilities.extendedAgentCard).toBe(true)
    const extended = await testServer.ok('1.0', 'GetExtendedAgentCard')
    expect(extended.skills.map((skill: Loose) => skill.id)).toEqual(['paint', 'secret'])
    expect((await testServer.ok('0.3', 'agent/getAuthenticatedExtendedCard')).skills).toHaveLength(
      2,
    )
    expect((await card(testServer, '/v1/card')).skills).toHaveLength(2)
    const without = await openTestServer({ agents: [painter] })
    expect((await without.rpc('1.0', 'GetExtendedAgentCard')).error.code).toBe(-32004)
    expect((await without.rpc('0.3', 'agent/getAuthenticatedExtendedCard')).error.code).toBe(-32007)
  })

  it('show the JSON Schema of the message that starts a task', async () => {
    const input = z.object({ city: z.string() })
    const booker = agent({ name: 'booker', description: 'Books', input, run: () => 'done' })
    const testServer = await openTestServer({ agents: [booker] })
    const { extensions } = (await card(testServer, path, v1)).capabilities
    expect(extensions[0]).toMatchObject({
      uri: 'urn:lull:a2a:input:1',
      params: { schema: { type: 'object', properties: { city: { type: 'string' } } } },
    })
  })
})
