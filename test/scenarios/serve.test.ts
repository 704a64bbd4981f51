/** `serve` in a program of its own, as an author writes it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

const program = (options: string): string => `
  import { agent, serve } from 'lull'
  const greeter = agent({ name: 'greeter', description: 'Greets', run: async (task) => {
    await task.step('greet', () => new Promise((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve('hi'))
      console.log('begun')
    }))
    await task.park({ reason: 'enough for now' })
  } })
  const { url, engine } = await serve({ agents: [greeter], port: 0, data: process.env.DATA, ${options} })
  console.log(url, engine.agents.size)
`

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-serve-'))
})
afterEach(() => rmSync(data, { recursive: true }))

async function start(options = '') {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(options)], {
    cwd: root,
    env: { ...process.env, DATA: data, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const told: string[] = []
  createInterface(child.stderr).on('line', (line) => told.push(line))
  const ended = once(child, 'close')
  const lines = createInterface(child.stdout)
  const [line] = (await once(lines, 'line')) as [string]
  const [url = '', agents] = line.split(' ')
  return { child, lines, told, ended, url, agents }
}

async function send(url: string): Promise<void> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
  const params = { message, configuration: { returnImmediately: true } }
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
  })
}

describe('a program that serves agents', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('says where, and drains on %s', async (signal) => {
    const { child, lines, told, ended, url, agents } = await start()
    expect(agents).toBe('1')
    expect(told).toEqual([expect.stringContaining(`Lull serves at ${url}`)])
    // The step ends after the signal, and its result is recorded.
    await Promise.all([once(lines, 'line'), send(url)])
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(told.at(-1)).toContain('Stopping')
    const again = await start()
    const waiting = async (): Promise<unknown> => (await fetch(`${again.url}/ops/waiting`)).json()
    await expect.poll(waiting).toMatchObject({ tasks: [{ reason: 'enough for now' }] })
    again.child.kill('SIGTERM')
    await again.ended
  })

  it('is quiet when told so, and leaves signals to the program', async () => {
    const { child, told, ended } = await start('quiet: true, signals: false')
    child.kill('SIGTERM')
    expect(await ended).toEqual([null, 'SIGTERM'])
    expect(told).toEqual([])
  })

  it('takes the settings of the configuration file', async () => {
    const { child, ended, url } = await start("publicUrl: 'https://agents.example.com'")
    expect(url).toBe('https://agents.example.com')
    child.kill('SIGTERM')
    await ended
  })
})
