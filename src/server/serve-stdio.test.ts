import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scriptAgent } from '../testing/script-agent/script-agent.ts'
import { openEngine } from './open-engine.ts'
import { type RunningServer, serve } from './serve.ts'
import { serveStdio } from './serve-stdio.ts'

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
