/**
 * A2A 0.3 has two addresses per agent: RFC words at the plain one, core states at the one that the card names.
 */
import { describe, expect, it } from 'vitest'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'
import {
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
} from '../test-support/test-server.ts'

const CONTROL = 'urn:lull:a2a:task-control:1'
const CONSENT = 'urn:lull:a2a:user-consent:1'

const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })

async function post(
  testServer: TestServer,
  path: string,
  method: string,
  params: unknown,
  headers = {},
) {
  const response = await testServer.fetch('POST', path, rpc(method, params), headers)
  const { result, error } = (await response.json()) as Loose
  expect(error).toBeUndefined()
  return result
}

const park = [{ park: { reason: 'ci' } }, { complete: 'done' }]
const consent = [{ consent: { prompt: 'Sure?', operation: 1 } }]

/** The send does not wait: at `/core` it would wait for the end of a task that parks. */
async function statesAt(testServer: TestServer, path: string, headers = {}) {
  const configuration = { blocking: false }
  const params = { message: scripted('0.3', park), configuration }
  const { id } = await post(testServer, path, 'message/send', params, headers)
  await untilParked(testServer, id)
  const parked = await post(testServer, path, 'tasks/get', { id }, headers)
  const asked = await post(
    testServer,
    path,
    'message/send',
    { message: scripted('0.3', consent) },
    headers,
  )
  return [
    [parked.status.state, parked.metadata[CONTROL].state],
    [asked.status.state, asked.metadata[CONSENT].state],
  ]
}

async function untilParked({ engine }: TestServer, taskId: string) {
  const caller = { tenant: 'default', principal: 'anonymous' }
  await engine.waitFor(caller, taskId, ({ state }) => state === 'paused-by-agent')
}

const rfc = [
  ['paused-by-agent', 'paused-by-agent'],
  ['user-consent-required', 'user-consent-required'],
]
const core = [
  ['working', 'paused-by-agent'],
  ['input-required', 'user-consent-required'],
]

describe('the two addresses of A2A 0.3', () => {
  it.each([
    ['/', rfc],
    ['/agents/script', rfc],
    ['/core', core],
    ['/core/', core],
    ['/agents/script/core', core],
  ])('POST %s', async (path, expected) => {
    expect(await statesAt(await openTestServer(), path)).toEqual(expected)
  })

  it('has the RFC words at either address for whoever names the extension', async () => {
    const testServer = await openTestServer()
    const headers = { 'x-a2a-extensions': CONTROL }
    expect(await statesAt(testServer, '/core', headers)).toEqual(rfc)
    expect(await statesAt(testServer, '/', headers)).toEqual(rfc)
  })

  it.each(['rfc', 'core'] as const)('can be made one by the operator: %s', async (v03States) => {
    const testServer = await openTestServer({ a2a: { config: { v03States } } })
    const expected = v03States === 'rfc' ? rfc : core
    expect(await statesAt(testServer, '/')).toEqual(expected)
    expect(await statesAt(testServer, '/core')).toEqual(expected)
  })

  it.each([
    ['/v1', 'paused-by-agent'],
    ['/agents/script/v1', 'paused-by-agent'],
    ['/core/v1', 'TASK_STATE_WORKING'],
    ['/agents/script/core/v1', 'TASK_STATE_WORKING'],
  ])('REST %s', async (path, state) => {
    const testServer = await openTestServer()
    const body = { message: scripted('0.3', park), configuration: { blocking: false } }
    const { task: sent } = (await (
      await testServer.fetch('POST', `${path}/message:send`, body)
    ).json()) as Loose
    await untilParked(testServer, sent.id)
    const task = (await (await testServer.fetch('GET', `${path}/tasks/${sent.id}`)).json()) as Loose
    expect(task.status.state).toBe(state)
    expect(task.metadata[CONTROL].state).toBe('paused-by-agent')
    const list = (await (
      await testServer.fetch('GET', `${path}/tasks?status=${state}`)
    ).json()) as Loose
    expect(list.tasks).toMatchObject([{ id: task.id }])
  })

  it('speaks 1.0 under /core as well, with a tenant in the path too', async () => {
    const testServer = await openTestServer({ env: { anyTenant: true } })
    const message = scripted('1.0', [{ complete: 'done' }])
    await testServer.fetch('POST', '/core/acme/message:send', { message })
    const list = (await (await testServer.fetch('GET', '/acme/tasks')).json()) as Loose
    expect(list.totalSize).toBe(1)
    const got = await post(
      testServer,
      '/core',
      'ListTasks',
      { tenant: 'acme' },
      { 'a2a-version': '1.0' },
    )
    expect(got.tasks).toMatchObject([{ status: { state: 'TASK_STATE_COMPLETED' } }])
  })

  it('streams in the words of the address, through a pause to the end', async () => {
    const states = async (path: string) => {
      const testServer = await openTestServer()
      const message = scripted('0.3', park)
      const response = await testServer.fetch('POST', path, rpc('message/stream', { message }))
      const text = response.text()
      const { tasks } = await testServer.engine.list({ tenant: 'default', principal: 'anonymous' })
      const taskId = tasks[0]?.id ?? ''
      await testServer.engine.waitFor(
        { tenant: 'default', principal: 'anonymous' },
        taskId,
        (task) => task.state === 'paused-by-agent',
      )
      await testServer.ok('1.0', 'tasks/resume', { taskId })
      return [...(await text).matchAll(/"state":"([a-z-]+)","(?:message|timestamp)"/g)].map(
        ([, state]) => state,
      )
    }
    expect(await states('/core')).not.toContain('paused-by-agent')
    expect(await states('/core')).toContain('completed')
    expect(await states('/')).toContain('paused-by-agent')
  })

  it('keeps the words of the address in the webhooks that were made there', async () => {
    const sent: Loose[] = []
    const testServer = await openTestServer({
      a2a: {
        config: { pushToPrivate: true },
        post: async ({ url, body }) => {
          sent.push([url, JSON.parse(body).status.state])
        },
      },
    })
    for (const path of ['/', '/core']) {
      const url = `http://127.0.0.1:9${path}`
      const configuration = { blocking: false, pushNotificationConfig: { url } }
      const task = await post(testServer, path, 'message/send', {
        message: scripted('0.3', park),
        configuration,
      })
      await expect
        .poll(() => sent.filter(([to]) => to === url).map(([, state]) => state))
        .toContain(path === '/' ? 'paused-by-agent' : 'working')
      await testServer.ok('1.0', 'tasks/resume', { taskId: task.id })
      await expect.poll(() => sent.at(-1)).toEqual([url, 'completed'])
    }
    const core = sent.filter(([to]) => to.endsWith('/core')).map(([, state]) => state)
    expect(core).not.toContain('paused-by-agent')
  })

  it('is named by the cards of every agent, for 0.3 only', async () => {
    const testServer = await openTestServer()
    for (const [at, url] of [
      ['', 'http://lull.test'],
      ['/agents/script', 'http://lull.test/agents/script'],
      ['/core', 'http://lull.test'],
    ]) {
      const path = `${at}/.well-known/agent-card.json`
      const card = (await (await testServer.fetch('GET', path)).json()) as Loose
      expect(card.url).toBe(`${url}/core`)
      expect(card.additionalInterfaces.map((one: Loose) => one.url)).toEqual([card.url, card.url])
      for (const one of card.supportedInterfaces) {
        expect(one.url).toBe(one.protocolVersion === '1.0' ? url : `${url}/core`)
      }
    }
  })

  it('finds the card for an agent URL without a slash, unless several agents could be meant', async () => {
    // `new URL('.well-known/agent-card.json', 'http://lull.test/agents/script')`
    const path = '/agents/.well-known/agent-card.json'
    const one = await openTestServer()
    expect(((await (await one.fetch('GET', path)).json()) as Loose).name).toBe('script')
    const agents = ['first', 'second'].map((name) => createScriptAgent({ name, clock: one.clock }))
    const response = await (await openTestServer({ agents })).fetch('GET', path)
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('/agents/{name}/')
  })
})
