import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { commands } from './all-commands.ts'
import { runCli } from './run-cli.ts'
import { createFakeIo } from './test-support/fake-io.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-cli-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli(args, io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

describe('help', () => {
  it('lists every command', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    for (const { name } of commands) expect(out).toContain(name)
  })

  it.each(commands.map(({ name }) => name))('shows flags and examples of %s', async (name) => {
    const { code, out } = await run(...name.split(' '), '--help')
    expect(code).toBe(0)
    expect(out).toContain('--json')
    expect(out).toContain(`lull ${name}`)
  })

  it('shows a command that help is asked for', async () => {
    expect((await run('help', 'send')).out).toContain('lull send <url> <text>')
    expect((await run('help', 'tasks', 'watch')).out).toContain('lull tasks watch [task-id]')
  })

  it('shows the verbs of a noun, and what commands read from the environment', async () => {
    for (const args of [
      ['keys', '--help'],
      ['help', 'keys'],
    ]) {
      const { code, out } = await run(...args)
      expect(code).toBe(0)
      expect(out).toContain('lull keys <mint | list | revoke | rotate>')
    }
    for (const args of [['--help'], ['tasks', 'list', '--help']]) {
      const { out } = await run(...args)
      expect(out).toMatch(/LULL_URL .*\n.*LULL_TOKEN/)
    }
  })

  it('shows the version', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+$/)
  })
})

describe('wrong usage', () => {
  it.each([
    [[], 'Usage'],
    [['dance'], 'no command "dance"'],
    [['tasks', 'dance'], 'no command "tasks dance"'],
    [['tasks', 'transfer'], 'see lull tasks --help'],
    [['taks'], 'did you mean "tasks"?'],
    [['taks', 'list'], 'did you mean "tasks list"?'],
    [['evnts'], 'did you mean "events"?'],
    [['sned', 'x'], 'did you mean "send"?'],
    [['tasks', 'wach'], 'did you mean "tasks watch"?'],
    [['help', 'sent'], 'did you mean "send"?'],
    [['demo', '--prot', '1'], `Unknown option '--prot'; did you mean "--port"?`],
    [['demo', '--port', 'http'], '--port: "http" is not a port'],
    [['demo', '--port'], 'argument missing'],
    [['serve'], 'give one module of agents'],
    [['serve', '--script', '--demo'], 'give one module of agents'],
    [['serve', './no-such-file.js'], 'there is no file'],
    [['send', 'http://127.0.0.1:1'], 'give a text'],
    [['send', 'not a url', 'Hello'], 'is not an http address'],
    [['conformance', 'notaurl'], 'is not an address, such as'],
    [['send', 'http://127.0.0.1:1', 'Hello', 'there'], 'quotes'],
    [['tasks', 'show'], 'give one task id'],
    [['tasks', 'list', '--state', 'asleep'], 'there is no state "asleep"'],
    [['tasks', 'pause', 't1', '--mode', 'now'], 'there is no mode "now"'],
    [['tasks', 'resume', 't1', '--input', '{'], '--input takes JSON'],
    [['events', 'emit'], 'give the type of one event'],
    [['events', 'emit', 'a', 'b'], 'give the type of one event'],
    [['events', 'emit', 'a', '--data', 'passed'], '--data takes JSON'],
    [['events', 'emit', 'a', '--url', 'ftp://x'], 'is not an http address'],
  ])('%j is told in a sentence, with exit code 2', async (args, sentence) => {
    const { code, err, out } = await run(...args)
    expect(code).toBe(2)
    expect(err).toContain(sentence)
    expect(out).toBe('')
  })

  it('is JSON for who asked for JSON', async () => {
    const { out } = await run('tasks', 'show', '--json')
    expect(JSON.parse(out)).toEqual({ error: { code: 'USAGE', message: 'give one task id' } })
  })
})

it.each([
  [['send', 'http://127.0.0.1:1', 'Hello']],
  [['tasks', 'list', '--url', 'http://127.0.0.1:1']],
  [['tasks', 'watch', 't1', '--url', 'http://127.0.0.1:1']],
  [['events', 'emit', 'done', '--url', 'http://127.0.0.1:1']],
])('%j ends with exit code 3 when there is no server', async (args) => {
  const { code, err } = await run(...args)
  expect(code).toBe(3)
  expect(err).toContain('Cannot reach http://127.0.0.1:1')
})

describe('serving', () => {
  const here = () => ['--port', '0', '--data', join(directory, 'data')]

  it('says where it serves, what to try and how to stop', async () => {
    const { code, out } = await run('demo', ...here())
    expect(code).toBe(0)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? ''
    expect(out).toContain(`${url}/agents/painter`)
    expect(out).toContain(`lull send ${url} "Generate an image`)
    expect(out).toContain('Ctrl-C')
  })

  it('says it in JSON', async () => {
    const { out } = await run('serve', '--script', '--json', ...here())
    expect(JSON.parse(out)).toMatchObject({ agents: ['script'] })
  })

  it('serves the agents of a module', async () => {
    const file = join(directory, 'agents.mjs')
    writeFileSync(file, `export const agents = [{ name: 'mine', description: 'My own', run() {} }]`)
    const { code, out } = await run('serve', file, ...here())
    expect(code).toBe(0)
    expect(out).toContain('My own')
  })

  it.each([
    ['export const agents = []', 'exports no agents'],
    ['export default { name: 1 }', 'exports no agents'],
    ['throw new Error("my mistake")', 'my mistake'],
  ])('says why a module cannot be served: %s', async (text, sentence) => {
    const file = join(directory, 'agents.mjs')
    writeFileSync(file, text)
    const { code, err } = await run('serve', file, ...here())
    expect(code).toBe(1)
    expect(err).toContain(sentence)
  })

  it('refuses an address others can reach', async () => {
    const { code, err } = await run('demo', '--host', '0.0.0.0', ...here())
    expect(code).toBe(1)
    expect(err).toContain('--insecure')
  })
})

it('tells in one sentence that nothing answers at the address of lull conformance', async () => {
  const { code, err } = await run('conformance', 'http://127.0.0.1:1')
  expect(code).toBe(3)
  expect(err).toContain('Nothing answers at http://127.0.0.1:1')
  expect(err).not.toMatch(/\bat \w+ \(/)
})

it('calls the server that LULL_URL names, unless --url names another', async () => {
  vi.stubEnv('LULL_URL', 'http://127.0.0.1:1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect((await run('tasks')).err).toContain('Cannot reach http://127.0.0.1:1')
  const other = await run('tasks', '--url', 'http://127.0.0.1:2')
  expect(other.err).toContain('Cannot reach http://127.0.0.1:2')
})

it('lists, when a noun has no verb', async () => {
  const { code, out } = await run('keys', '--data', join(directory, 'data'))
  expect([code, out]).toEqual([0, expect.stringContaining('There is no key')])
})
