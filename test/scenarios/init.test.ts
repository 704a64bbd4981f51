/** `lull init` makes a project that runs on the packed package. Nothing is downloaded: dependencies are those of this clone. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lull, serving } from './lull-process.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

let place: string
let project: string
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'lull-init-'))
  project = join(place, 'My Agents')
})
afterAll(() => rmSync(place, { recursive: true }))

/** Packs this clone and unpacks it into the project, beside links to its dependencies. */
function install(): string {
  const options = ['pack', '--ignore-scripts', '--silent', '--pack-destination', place]
  const packed = execFileSync('npm', options, { cwd: root, encoding: 'utf8' }).trim()
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'lull'), { recursive: true })
  const tarball = join(place, packed.split('\n').at(-1) ?? '')
  execFileSync('tar', ['xzf', tarball, '-C', join(modules, 'lull'), '--strip-components=1'])
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    mkdirSync(join(modules, name, '..'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return join(modules, 'lull', 'dist', 'cli', 'main.js')
}

it('makes a project whose test passes and whose agent answers', async () => {
  const made = await lull(['init', project]).ended
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('npm start') })
  expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).name).toBe('my-agents')
  const main = install()
  const tested = execFileSync(process.execPath, ['--test'], { cwd: project, encoding: 'utf8' })
  expect(tested).toMatch(/pass 2/)
  const data = join(place, 'data')
  const agents = join(project, 'agents.js')
  const server = await serving([
    'serve',
    agents,
    '--port',
    '0',
    '--data',
    data,
    '--store',
    'memory',
  ])
  const sent = await lull(['send', server.url, 'the sea'], {}, { main }).ended
  expect(sent.out).toContain('Publish the draft?')
  const answered = await lull(['answer', '@last', 'publish', '--url', server.url]).ended
  expect(answered.out).toContain('Published')
  server.signal('SIGTERM')
  await server.ended
})

it('overwrites nothing', async () => {
  const again = await lull(['init', project]).ended
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('is not empty') })
})

it('packs no source maps, because the sources that they name are not packed', () => {
  const files = readdirSync(join(project, 'node_modules', 'lull'), { recursive: true })
  expect(files.length).toBeGreaterThan(1_000)
  expect(files.filter((file) => String(file).endsWith('.map'))).toEqual([])
})
