/**
 * `lull init` makes a project that installs, runs and stays: on the packed package, with npm, outside of the clone. Nothing is
 * downloaded: a registry on this machine gives npm the dependencies of the clone.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { editing } from '../docs/editor.ts'
import { buildImage } from '../support/dockerfile.ts'
import { type LocalRegistry, openRegistry } from '../support/local-registry.ts'
import { lull } from './lull-process.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

let place: string
let project: string
let registry: LocalRegistry
let env: NodeJS.ProcessEnv
const children: ChildProcess[] = []
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'lull-init-'))
  project = join(place, 'My Agents')
  registry = await openRegistry()
  env = {
    PATH: process.env['PATH'],
    HOME: place,
    LOG_LEVEL: 'warn',
    npm_config_registry: registry.url,
    npm_config_cache: join(place, 'cache'),
    npm_config_update_notifier: 'false',
  }
  const made = await lull(['init', project, '--template', 'js']).ended
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('npm start') })
  await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: project, env })
})
afterAll(async () => {
  for (const child of children) if (child.exitCode === null) killGroup(child, 'SIGKILL')
  await registry.close()
  rmSync(place, { recursive: true })
})

const killGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid !== undefined && child.signalCode === null) process.kill(-child.pid, signal)
}

/** A server in a process group of its own, as a terminal starts it. */
async function start(command: readonly string[], cwd: string, more: NodeJS.ProcessEnv) {
  const port = `${await freePort()}`
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd,
    env: { ...env, PORT: port, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('is serving at')) break
  }
  child.stdout.resume()
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = once(child, 'exit')
    killGroup(child, signal)
    await ended
  }
  return { url: `http://127.0.0.1:${port}`, port, end }
}

/** The program that npm installed in the project. */
const main = (): string => join(project, 'node_modules', 'lull', 'dist', 'cli', 'main.js')

it('the installed project passes its tests, and its agent goes on after kill -9', async () => {
  expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).name).toBe('my-agents')
  const { stdout } = await run('npm', ['test'], { cwd: project, env })
  expect(stdout).toMatch(/pass 2/)

  const server = await start(['npm', 'start'], project, {})
  const sent = await lull(['send', server.url, 'the sea'], env, { main: main() }).ended
  expect(sent.out).toContain('Publish the draft?')
  await server.end('SIGKILL')
  const again = await start(['npm', 'start'], project, {})
  const answer = ['answer', '@last', 'publish', '--url', again.url]
  const answered = await lull(answer, env, { main: main() }).ended
  expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('Published') })
  await again.end('SIGTERM')
})

it('an editor starts the agents with the settings of the project', async () => {
  const settings = JSON.parse(readFileSync(join(project, 'acp.json'), 'utf8'))
  const { command, args } = settings.agent_servers['my-agents']
  const child = spawn(command, args, { cwd: place, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const { updates } = await editing(child, 'the sea')
  expect(JSON.stringify(updates)).toContain('Publish the draft?')
  child.stdin.end()
  await once(child, 'exit')
})

it('the lines of its Dockerfile make a server that is ready, and asks for a key', async () => {
  const target = mkdtempSync(join(place, 'image-'))
  const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8')
  // With a cache of its own: npm would find the packed package in that of the project.
  const apart = { ...env, npm_config_cache: join(target, 'cache') }
  const image = await buildImage({ dockerfile, context: project, target, env: apart })
  expect(image).toMatchObject({ from: 'node:24-slim', user: 'node' })
  expect(existsSync(join(image.directory, 'acp.json'))).toBe(false)
  const { PATH } = process.env
  const server = await start(image.command, image.directory, {
    ...image.env,
    PATH,
    HOST: '127.0.0.1',
  })
  const [program = '', ...args] = image.health
  await run(program, args, { env: { PATH, PORT: server.port } })
  expect((await fetch(`${server.url}/ops/tasks`)).status).toBe(401)
  await server.end('SIGTERM')
  await expect(run(program, args, { env: { PATH, PORT: server.port } })).rejects.toThrow()
})

it('a project in TypeScript compiles, and its tests pass where Node runs TypeScript', async () => {
  const typed = join(place, 'typed')
  // The package that npm installed from a file is not in a registry: init packs it again.
  const made = await lull(['init', typed, '--template', 'ts'], env, { main: main() }).ended
  expect(made.code).toBe(0)
  const { dependencies } = JSON.parse(readFileSync(join(typed, 'package.json'), 'utf8'))
  expect(dependencies).toEqual({ lull: 'file:vendor/lull-0.1.0.tgz' })
  cpSync(join(project, 'node_modules'), join(typed, 'node_modules'), { recursive: true })
  symlinkSync(join(root, 'node_modules', '@types'), join(typed, 'node_modules', '@types'))
  const compiled = spawnSync(join(root, 'node_modules/.bin/tsc'), { cwd: typed, encoding: 'utf8' })
  expect(compiled).toMatchObject({ stdout: '', status: 0 })
  // Node 20 gets the same from tsx.
  const loader = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href
  const args = ['--import', loader, '--test', 'agents.test.ts']
  const tested = await run(process.execPath, args, { cwd: typed, env })
  expect(tested.stdout).toMatch(/pass 2/)
})

it('init overwrites nothing, and names a package that is not there or not packed', async () => {
  const failed = async (...args: readonly string[]) => (await lull(['init', ...args]).ended).err
  expect(await failed(project)).toContain('is not empty')
  expect(await failed(join(place, 'a'), '--from', join(place, 'none.tgz'))).toContain('there is no')
  expect(await failed(join(place, 'b'), '--from', join(project, 'README.md'))).toContain('.tgz')
  expect(await failed(join(place, 'c'), '--template', 'py')).toContain('ts or js')
  const from = join(project, 'vendor', 'lull-0.1.0.tgz')
  expect((await lull(['init', join(place, 'd'), '--from', from]).ended).code).toBe(0)
  expect(readdirSync(join(place, 'd', 'vendor'))).toEqual(['lull-0.1.0.tgz'])
})

it('the package has the pages for users, no reports, and no source maps', () => {
  const installed = join(project, 'node_modules', 'lull')
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  expect(files.length).toBeGreaterThan(1_000)
  expect(files).toContain(join('docs', 'README.md'))
  expect(files).toContain(join('docs', 'start.md'))
  expect(files.filter((file) => /\.map$|\.png$|docs.evidence/.test(file))).toEqual([])
})
