/** The Dockerfile of this clone: its own lines make a server that runs with nothing but a volume. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type BuiltImage, buildImage } from '../support/dockerfile.ts'
import { type LocalRegistry, openRegistry } from '../support/local-registry.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

let place: string
let registry: LocalRegistry
let image: BuiltImage
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'lull-image-'))
  registry = await openRegistry()
  image = await buildImage({
    dockerfile,
    context: contextIn(join(place, 'context')),
    target: place,
    env: {
      HOME: place,
      npm_config_registry: registry.url,
      npm_config_cache: join(place, 'cache'),
    },
  })
})
afterAll(async () => {
  await registry.close()
  rmSync(place, { recursive: true })
})

/** What is sent to the build. The registry of the test packs packages anew, so their checksums are not those of the lockfile. */
function contextIn(context: string): string {
  mkdirSync(context)
  const sent = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? []
  for (const name of sent) cpSync(join(root, name), join(context, name), { recursive: true })
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  for (const one of Object.values<{ integrity?: string }>(lock.packages)) delete one.integrity
  writeFileSync(join(context, 'package-lock.json'), JSON.stringify(lock))
  return context
}

it('is slim, has a user of its own, and no tools of development', () => {
  expect(image).toMatchObject({ from: 'node:24-slim', user: 'node' })
  const installed = readdirSync(join(image.directory, 'node_modules'))
  expect(installed).toContain('hono')
  expect(installed).not.toContain('typescript')
})

it('serves the demo with a volume alone, is healthy, and asks strangers for a key', async () => {
  const port = `${await freePort()}`
  const { PATH } = process.env
  // A container has a network of its own; here the server stays on this machine.
  const env = { ...image.env, PATH, PORT: port, HOST: '127.0.0.1', LOG_LEVEL: 'warn' }
  const [program = '', ...args] = image.command
  const child = spawn(program, args, {
    cwd: image.directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('is serving at')) break
    }
    child.stdout.resume()
    const [health = '', ...words] = image.health
    await run(health, words, { env: { PATH, PORT: port } })
    expect((await fetch(`http://127.0.0.1:${port}/ops/tasks`)).status).toBe(401)
    const mint = [
      'keys',
      'mint',
      '--tenant',
      'default',
      '--principal',
      'ann',
      '--scopes',
      'ops:read',
    ]
    const cli = [join(image.directory, 'dist/cli/main.js'), ...mint, '--json']
    const { key } = JSON.parse((await run(program, cli, { env })).stdout)
    const authorization = `Bearer ${key}`
    const listed = await fetch(`http://127.0.0.1:${port}/ops/tasks`, { headers: { authorization } })
    expect(listed.status).toBe(200)
    expect(readdirSync(image.env['LULL_DATA'] ?? '').length).toBeGreaterThan(0)
  } finally {
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }
})
