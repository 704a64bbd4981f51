import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { readAddress } from '../http/address-file.ts'
import { openEngine } from '../open-engine.ts'
import { type RunningServer, serve } from '../serve.ts'
import { attachStdio, serveStdio } from './serve-stdio.ts'

const agents = [scriptAgent]
const log = (): void => undefined

let directory: string
let other: RunningServer
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-stdio-'))
  other = await serve({ agents, port: 0, data: join(directory, 'other'), log, quiet: true })
})
afterEach(async () => {
  await other.close()
  rmSync(directory, { recursive: true })
})

/** A directory nobody has, whose last owner was at the address where another one is now. */
async function abandoned(): Promise<string> {
  const data = join(directory, 'mine')
  await (await openEngine({ agents, data, log })).close()
  writeFileSync(join(data, 'lull.address'), `ws://127.0.0.1:${other.port}/acp\n`)
  return data
}

it('does not attach to the engine of another directory that has the port', async () => {
  const data = await abandoned()
  const streams = { input: new PassThrough(), output: new PassThrough() }
  const mine = serveStdio({ agents, data, port: other.port, ...streams })
  await expect(mine).rejects.toThrow(`Port ${other.port} is already in use`)
})

it('forgets where the last owner of a directory was as soon as it has it', async () => {
  const data = await abandoned()
  const open = await openEngine({ agents, data, log })
  expect(existsSync(join(data, 'lull.address'))).toBe(false)
  await open.close()
})

it('attaches to a server with authentication by the token in its data directory alone', async () => {
  const data = join(directory, 'keyed')
  const auth = { modes: ['keys'] as const }
  const keyed = await serve({ agents, port: 0, data, log, quiet: true, auth })
  onTestFinished(() => keyed.close())
  const address = readAddress(data)
  expect(address?.token).toBeDefined()
  expect(statSync(join(data, 'lull.address')).mode & 0o077).toBe(0)
  const { url } = address ?? { url: '' }
  const streams = () => [new PassThrough(), new PassThrough()] as const
  for (const token of [undefined, 'wrong']) {
    await expect(attachStdio({ url, token }, ...streams())).rejects.toThrow('401')
  }
  const [input, output] = streams()
  const attached = await attachStdio({ ...address, url }, input, output)
  const answers = createInterface(output)[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return JSON.parse((await answers.next()).value as string)
  }
  const hello = { protocolVersion: 1, clientCapabilities: {} }
  expect(await ask(1, 'initialize', hello)).toMatchObject({ id: 1, result: {} })
  const session = { cwd: directory, mcpServers: [] }
  expect(await ask(2, 'session/new', session)).toMatchObject({
    result: { sessionId: expect.any(String) },
  })
  attached.close()
  await attached.ended
})
