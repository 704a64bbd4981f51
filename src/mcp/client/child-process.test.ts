/** The processes of MCP servers end with the process that started them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aiAgent } from '../../ai/agent/ai-agent.ts'
import { scriptedModel } from '../../ai/test-support/mock-model.ts'
import { createHarness } from '../../engine/test-support/engine-harness.ts'
import { type Watch, watchedServer, watchServers } from '../test-support/watched-server.ts'
import { createMcpClient } from './mcp-client.ts'

const host = fileURLToPath(new URL('../test-support/host.ts', import.meta.url))

let watch: Watch
beforeEach(async () => {
  watch = await watchServers()
})
afterEach(() => watch.close())

function program(...args: readonly string[]) {
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  return spawn(process.execPath, ['--import', 'tsx', host, ...args], { stdio: [...stdio] })
}

it('K3: a server that ignores every sign is killed when its program fails', async () => {
  const child = program('throws', `${watch.port}`, 'stubborn')
  await once(child, 'exit')
  await watch.ended()
})

it('K3: a server ends when its program is killed', async () => {
  const child = program('waits', `${watch.port}`)
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await watch.ended()
})

it('K3: a server ends when the engine is closed', async () => {
  const { model } = scriptedModel(() => ({ text: 'done' }))
  const mcp = { watched: watchedServer(watch.port) }
  const agents = [aiAgent({ name: 'worker', description: 'works', model, mcp })]
  const { engine, send, ended } = await createHarness({ agents })
  await ended((await send('go')).id)
  await engine.drain()
  await watch.ended()
})

it('writes what a server prints to the log, and its last lines as a warning if it ends by itself', async () => {
  const lines: unknown[] = []
  const log = (...line: readonly unknown[]) => lines.push(line)
  const client = createMcpClient({ watched: watchedServer(watch.port) })
  await client.list('watched', log)
  await client.close()
  const hello = 'the server says hello'
  expect(lines).toEqual([['debug', hello, { mcp: 'watched' }]])

  const args = ['-e', `console.error('${hello}'); process.exit(1)`]
  const broken = createMcpClient({ broken: { command: process.execPath, args } })
  await expect(broken.list('broken', log)).rejects.toThrow()
  const why = { mcp: 'broken', stderr: [hello] }
  expect(lines).toContainEqual(['warn', 'an MCP server did not start', why])
})
