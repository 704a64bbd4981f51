/** The servers the manifest runs against, each on a free port of loopback and stopped by its own handle. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { serve } from '../../src/server/serve.ts'
import { scriptAgent } from '../../src/testing/script-agent/script-agent.ts'

export interface Running extends AsyncDisposable {
  readonly url: string
}

const OFFICIAL = fileURLToPath(new URL('./official-server.mjs', import.meta.url))

export async function startOfficial(variant: 'full' | 'bare' | 'required'): Promise<Running> {
  const child = spawn(process.execPath, [OFFICIAL, variant], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // It reports every refusal on stderr, and refusals are what this is about: kept for the case that it does not start.
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-2_000)
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [url] = (await Promise.race([
    once(lines, 'line'),
    exited.then(() => {
      throw new Error(`the official server ended before it listened: ${said}`)
    }),
  ])) as [string]
  // The SDK reports every delivery on stdout: read on, or the pipe fills and the server stops.
  lines.on('line', () => undefined)
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await exited
    },
  }
}

export async function startLull(): Promise<Running> {
  const data = await mkdtemp(join(tmpdir(), 'lull-conformance-'))
  const config = join(data, 'config.json')
  // The webhook of the runner is on loopback, which an ordinary server refuses.
  await writeFile(config, JSON.stringify({ a2a: { pushToPrivate: true } }))
  const serving = await serve({
    agents: [scriptAgent],
    port: 0,
    data: join(data, 'tasks'),
    config,
    log: () => undefined,
    quiet: true,
  })
  return {
    url: serving.url,
    [Symbol.asyncDispose]: async () => {
      await serving.close()
      await rm(data, { recursive: true, force: true })
    },
  }
}
