/** Every program in `examples/` is started as its first lines say, and does what they say. */
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { root } from './documents.ts'
import { editing } from './editor.ts'

let data: string
let children: ChildProcess[]
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-example-'))
  children = []
})
afterEach(async () => {
  await Promise.all(children.map(stop))
  rmSync(data, { recursive: true })
})

function start(args: readonly string[], some: NodeJS.ProcessEnv = {}): ChildProcess {
  const env = { ...process.env, PORT: '0', LULL_DATA: data, LOG_LEVEL: 'error', ...some }
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function serving(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = start(args, env)
  const errors: string[] = []
  for await (const line of createInterface({ input: child.stderr ?? process.stdin })) {
    errors.push(line)
    const url = /serves at (\S+),/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`${args.join(' ')} did not serve:\n${errors.join('\n')}`)
}

const example = (name: string): Promise<string> => serving([join('examples', `${name}.mjs`)])

async function run(...args: readonly string[]): Promise<{ code: number; out: string }> {
  const child = start(args)
  const out: string[] = []
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => out.push(line))
  const [code] = (await once(child, 'close')) as [number]
  return { code, out: out.join('\n') }
}

const lull = (...args: readonly string[]) => run('dist/cli/main.js', ...args)

describe('examples', () => {
  it('are all tried here and listed in their README', () => {
    const names = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.mjs'))
    const [listed, tried] = ['examples/README.md', 'test/docs/example-programs.test.ts'].map(
      (path) => readFileSync(join(root, path), 'utf8'),
    )
    for (const name of names) {
      expect(listed).toContain(`\`${name}\``)
      expect(tried).toContain(`'${name.replace('.mjs', '')}'`)
    }
  })

  it('hello', async () => {
    const url = await example('hello')
    expect((await lull('send', url, 'Ann')).out).toContain('Hello, Ann!')
  })

  it("'tracing' sends the spans of a program to a receiver, under the name of the service", async () => {
    const bodies: string[] = []
    const arrived = new EventEmitter()
    const receiver = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      bodies.push(`${request.url} ${Buffer.concat(pieces)}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      arrived.emit('body')
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    try {
      const { port } = receiver.address() as AddressInfo
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_BSP_SCHEDULE_DELAY: '50',
        OTEL_SERVICE_NAME: 'greetings',
      }
      const url = await serving(['--import', './examples/tracing.mjs', 'examples/hello.mjs'], env)
      await lull('send', url, 'Ann')
      const found = (): boolean => bodies.some((body) => body.includes('"segment greeter"'))
      while (!found()) await once(arrived, 'body')
      expect(bodies[0]).toMatch(/^\/v1\/traces /)
      expect(bodies[0]).toContain('{"key":"service.name","value":{"stringValue":"greetings"}}')
    } finally {
      receiver.closeAllConnections()
      receiver.close()
    }
  })

  it('wait-for-ci goes on after its process was killed', async () => {
    const url = await example('wait-for-ci')
    const parked = await lull('send', url, 'main')
    expect(parked.out).toContain('waiting for build 42')
    children[0]?.kill('SIGKILL')
    await once(children[0] as ChildProcess, 'exit')
    const again = await example('wait-for-ci')
    const passed = ['--subject', '42', '--data', '{"status": "passed"}', '--url', again]
    await lull('events', 'emit', 'ci.build.completed', ...passed)
    const watched = await lull('tasks', 'watch', '@last', '--url', again)
    expect(watched).toMatchObject({ code: 0, out: expect.stringContaining('Released main') })
  })

  it.each([
    ['--grant', 0, 'old-backups is deleted'],
    ['--deny', 4, 'rejected'],
  ])('ask-for-consent answered with %s', async (flag, code, text) => {
    const url = await example('ask-for-consent')
    expect((await lull('send', url, 'old-backups')).out).toContain('Delete old-backups for good?')
    const answered = await lull('answer', '@last', flag, '--url', url)
    expect(answered).toMatchObject({ code, out: expect.stringContaining(text) })
  })

  it('stream-text', async () => {
    const url = await example('stream-text')
    const { out } = await lull('send', url, 'the sea', '--stream')
    expect(out).toContain('Of the sea I sing, slowly, so that you see it come. ')
  })

  it('two-agents', async () => {
    const url = await example('two-agents')
    const { out } = await lull('send', url, 'it')
    expect(out).toContain('One can be for it. One can be against it.')
  })

  it('ai-research', async () => {
    const url = await example('ai-research')
    const { out } = await lull('send', url, 'Well?', '--stream')
    expect(out).toContain('Both can wait without losing anything.')
  })

  it('ai-release goes on after its process was killed', async () => {
    const url = await example('ai-release')
    expect((await lull('send', url, 'Release main')).out).toContain('waiting for build 42')
    children[0]?.kill('SIGKILL')
    await once(children[0] as ChildProcess, 'exit')
    const again = await example('ai-release')
    const passed = ['--subject', '42', '--data', '{"status": "passed"}', '--url', again]
    await lull('events', 'emit', 'ci.build.completed', ...passed)
    const asks = async () => (await lull('tasks', 'show', '@last', '--url', again)).out
    while (!(await asks()).includes('Allow deploy')) expect(await asks()).not.toContain('failed')
    const answered = await lull('answer', '@last', '--grant', '--url', again)
    expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('in production') })
  })

  it('ai-code-agent', async () => {
    const file = join(data, 'greeting.txt')
    writeFileSync(file, 'Hello, world\n')
    const args = [
      'dist/cli/main.js',
      'acp',
      'examples/ai-code-agent.mjs',
      '--data',
      join(data, 'acp'),
    ]
    const env = { ...process.env, CODE_AGENT_DIRECTORY: data, LOG_LEVEL: 'error' }
    const child = spawn(process.execPath, args, {
      cwd: root,
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    children.push(child)
    const { end, updates } = await editing(child, 'Add a mark')
    expect(end).toMatchObject({ stopReason: 'end_turn' })
    expect(readFileSync(file, 'utf8')).toBe('Hello, world!\n')
    expect(JSON.stringify(updates)).toContain('write_text')
  })

  it('pause-from-code', async () => {
    const child = start(['dist/cli/main.js', 'serve', '--script', '--json'])
    const [line] = (await once(
      createInterface({ input: child.stdout ?? process.stdin }),
      'line',
    )) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const { out } = await run('examples/pause-from-code.mjs', `${url}/agents/script`)
    expect(out).toBe('paused: paused\nthen: completed')
  })

  it('nightly-digest, started by hand', async () => {
    const url = await example('nightly-digest')
    const { out } = await lull('schedules', 'run', 'digest:nightly', '--url', url)
    expect(out).toMatch(/^Task /)
    const watched = await lull('tasks', 'watch', '@last', '--url', url)
    expect(watched.out).toContain('2 items. A quiet day.')
  })

  it('nightly-digest.test', async () => {
    const { code, out } = await run('--test', 'examples/nightly-digest.test.mjs')
    expect(out).toMatch(/pass 1/)
    expect(code).toBe(0)
  })

  it('support-triage', async () => {
    const url = await example('support-triage')
    const ticket = { customer: 'ann', text: 'I was charged twice', amount: 20 }
    expect((await lull('send', url, '{"customer": "ann"}')).code).toBe(1)
    const asked = await lull('send', url, JSON.stringify(ticket))
    expect(asked.out).toContain('ann wrote about billing')
    expect(asked.out).toContain('(one of: refund = Refund 20, reply, close)')
    expect((await lull('answer', '@last', 'shrug', '--url', url)).code).toBe(1)
    expect((await lull('answer', '@last', 'refund', '--url', url)).out).toContain('Pay 20 back')
    const granted = await lull('answer', '@last', '--grant', '--url', url)
    expect(granted.out).toContain('Refunded 20 to ann, receipt')
  })

  it('custom-store', async () => {
    const { out } = await run('examples/custom-store.mjs')
    expect(out).toMatch(/^Hello, Ann! It took \d+ records\.$/)
  })

  it('custom-provider', async () => {
    const url = await example('custom-provider')
    expect((await lull('send', url, 'three turns')).out).toContain('Turns left: 3, 2, 1')
  })
})

describe('examples of servers', () => {
  async function listening(name: string): Promise<{ url: string; child: ChildProcess }> {
    const port = `${await freePort()}`
    const child = start([join('examples', `${name}.mjs`)], { PORT: port })
    await once(createInterface({ input: child.stdout ?? process.stdin }), 'line')
    return { url: `http://127.0.0.1:${port}`, child }
  }

  it.each(['in-node', 'in-hono', 'in-express'])('%s has a page and agents', async (name) => {
    const { url } = await listening(name)
    expect(await (await fetch(url)).text()).toBe('a page of the app')
    expect((await lull('send', `${url}/lull`, 'Ann')).out).toContain('Hello, Ann!')
  })

  it.each(['in-fastify'])(
    '%s has a page and agents, streams, and ends at SIGTERM',
    async (name) => {
      const { url, child } = await listening(name)
      expect(await (await fetch(url)).text()).toBe('a page of the app')
      expect((await lull('send', `${url}/lull`, 'Ann', '--stream')).out).toContain('Hello, Ann!')
      await stop(child)
      expect(child.exitCode).toBe(0)
    },
  )

  it('the routes of a Next app answer', async () => {
    const script = `import { GET, POST } from './examples/next/app/lull/[[...path]]/route.js'
      const card = 'http://localhost:3000/lull/.well-known/agent-card.json'
      process.env.LULL_TOKEN = 'token'
      const headers = { authorization: 'Bearer token' }
      const call = new Request('http://localhost:3000/lull', { method: 'POST', body: '{}' })
      console.log((await POST(call)).status)
      console.log((await (await GET(new Request(card, { headers }))).json()).name)
      process.exit(0)`
    expect((await run('--input-type=module', '-e', script)).out).toBe('401\ngreeter')
  })
})
