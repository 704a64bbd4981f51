import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type RunningServer, serve } from '../../../server/serve.ts'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'

/** A server of the script agent for the tests of a file. Returns its address, which is known when the first test runs. */
export function useScriptServer(): () => string {
  let directory: string
  let server: RunningServer
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lull-mcp-'))
    const data = join(directory, 'data')
    const agents = [createScriptAgent()]
    server = await serve({ agents, port: 0, data, log: () => undefined, quiet: true })
  })
  afterAll(async () => {
    await server.close()
    rmSync(directory, { recursive: true })
  })
  return () => server.url
}
