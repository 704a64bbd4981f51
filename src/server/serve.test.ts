import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Agent, agent } from '../engine/author/agent.ts'
import type { Log } from '../ports/log.ts'
import { type RunningServer, type ServeOptions, serve } from './serve.ts'

let directory: string
let open: RunningServer[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-serve-'))
  open = []
})
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()))
  rmSync(directory, { recursive: true })
})

const quiet: Log = () => undefined

const parker: Agent = agent({
  name: 'parker',
  description: 'Parks until told to go on',
  run: async (task) => {
    await task.park({ reason: 'told to', onEvent: 'go' })
    return 'gone on'
  },
})

async function start(more: Partial<ServeOptions> = {}): Promise<RunningServer> {
  const data = join(directory, 'data')
  const serving = await serve({ agents: [parker], port: 0, data, log: quiet, quiet: true, ...more })
  open.push(serving)
  return serving
}

async function rpc(url: string, method: string, params: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}

const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }

it('serves A2A under the address it says', async () => {
  const { url } = await start()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const headers = { 'a2a-version': '1.0' }
  const card = await fetch(`${url}/.well-known/agent-card.json`, { headers })
  expect(await card.text()).toContain(`${url}/`.slice(0, -1))
  const own = await fetch(`${url}/agents/parker/.well-known/agent-card.json`, { headers })
  expect(await own.text()).toContain(`${url}/agents/parker`)
})

it('says on its cards where clients reach it, when that is somewhere else', async () => {
  const config = join(directory, 'lull.json')
  writeFileSync(config, JSON.stringify({ publicUrl: 'https://agents.example.com/' }))
  const { url, port } = await start({ config })
  expect(url).toBe('https://agents.example.com')
  const card = await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)
  expect(await card.text()).toContain('https://agents.example.com')
})

it('LULL_PUBLIC_URL wins over the file, and an option in code wins over both', async () => {
  const config = join(directory, 'public.json')
  writeFileSync(config, JSON.stringify({ publicUrl: 'https://file.example.com' }))
  vi.stubEnv('LULL_PUBLIC_URL', 'https://variable.example.com/')
  try {
    const first = await start({ config })
    expect(first.url).toBe('https://variable.example.com')
    await first.close()
    const second = await start({ config, publicUrl: 'https://code.example.com' })
    expect(second.url).toBe('https://code.example.com')
  } finally {
    vi.unstubAllEnvs()
  }
})

it('ends open streams when it closes, and the task goes on at the next start', async () => {
  const first = await start()
  const stream = await rpc(first.url, 'SendStreamingMessage', { message })
  const reader = stream.body?.getReader()
  const chunk = await reader?.read()
  const text = new TextDecoder().decode(chunk?.value)
  const id = /"id":"([^"]+)","contextId"/.exec(text)?.[1]
  await first.close()
  for (let end = await reader?.read(); end?.done !== true; end = await reader?.read());

  const second = await start()
  const rest = await rpc(second.url, 'SubscribeToTask', { id })
  const event = { specversion: '1.0', id: '1', source: 'test', type: 'go' }
  await fetch(`${second.url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  })
  expect(await rest.text()).toContain('TASK_STATE_COMPLETED')
})

it('closes once, however often it is asked to', async () => {
  const serving = await start()
  await Promise.all([serving.close(), serving.close()])
  await expect(fetch(serving.url)).rejects.toThrow()
})

describe('what it refuses', () => {
  it('is a port that is taken, before it touches the data', async () => {
    const { port } = await start()
    const data = join(directory, 'other')
    const second = serve({ agents: [parker], port, data, log: quiet, quiet: true })
    await expect(second).rejects.toThrow(`Port ${port} is already in use`)
    expect(existsSync(data)).toBe(false)
  })

  it('is data another server has, and it gives the port back', async () => {
    const { data } = await start()
    const other = join(directory, 'other')
    const free = await start({ data: other })
    await free.close()
    const { port } = free
    const second = serve({ agents: [parker], port, data, log: quiet, quiet: true })
    await expect(second).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    expect((await start({ port, data: other })).port).toBe(port)
  })

  it('is an address others can reach', async () => {
    const second = serve({ agents: [parker], port: 0, host: '0.0.0.0', log: quiet, quiet: true })
    await expect(second).rejects.toThrow('there is no authentication')
  })

  it('is two agents of one name, and it gives port and data back', async () => {
    const data = join(directory, 'data')
    const second = serve({ agents: [parker, parker], port: 0, data, log: quiet, quiet: true })
    await expect(second).rejects.toThrow('two agents bear the same name')
    await start()
  })
})
