/** The program from outside: how it starts, serves, stops, and what it says when it cannot. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type LullProcess, lull, serving } from './lull-process.ts'

let directory: string
let processes: LullProcess[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-scenario-'))
  processes = []
})
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await Promise.all(processes.map(({ ended }) => ended))
  rmSync(directory, { recursive: true })
})

const here = (): readonly string[] => ['--data', join(directory, 'data')]

async function start(...args: readonly string[]) {
  const server = await serving(args)
  processes.push(server)
  return server
}

async function run(...args: readonly string[]) {
  const process = lull(args)
  processes.push(process)
  return process.ended
}

describe('stopping', () => {
  it('drains and ends with 0 when Ctrl-C arrives twice, as it does under npm', async () => {
    const server = await start('demo', '--port', '0', ...here())
    server.signal('SIGINT')
    server.signal('SIGINT')
    expect((await server.ended).code).toBe(0)
  })

  it('lets a running step finish, and the task goes on at the next start', async () => {
    const effects = join(directory, 'effects')
    const script = {
      script: [{ step: 'one', ms: 300 }, { step: 'two', ms: 10 }, { complete: 'both' }],
    }
    const env = { LULL_EFFECTS: effects }
    const first = await serving(['serve', '--script', '--port', '0', ...here()], env)
    processes.push(first)
    await run('send', first.url, JSON.stringify(script), '--detach')
    const [taskId] = (await run('tasks', 'list', '-q', '--url', first.url)).out.split('\n')
    first.signal('SIGTERM')
    expect((await first.ended).code).toBe(0)

    const second = await serving(['serve', '--script', '--port', '0', ...here()], env)
    processes.push(second)
    const watched = await run('tasks', 'watch', taskId ?? '', '--url', second.url)
    expect(watched.code).toBe(0)
    expect(watched.out).toContain('completed  both')
  })
})

describe('a server that is killed', () => {
  it('is waited for by watch, which shows everything once', async () => {
    const port = `${await freePort()}`
    const server = await start('demo', '--port', port, ...here())
    const { url } = server
    const sent = await run('send', `${url}/agents/builder`, 'Run build 7 of main', '--json')
    const { task } = JSON.parse(sent.out) as { task: { id: string } }
    const watch = lull(['tasks', 'watch', task.id, '--url', url])
    processes.push(watch)
    await watch.said(/^paused-by-agent/)

    server.signal('SIGKILL')
    await server.ended
    await start('demo', '--port', port, ...here())
    const event = {
      specversion: '1.0',
      id: '1',
      source: 'ci',
      type: 'ci.build.completed',
      subject: '7',
      data: { status: 'passed' },
    }
    const emitted = await fetch(`${url}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(event),
    })
    expect(emitted.status).toBe(202)

    const { code, out, err } = await watch.ended
    expect(code).toBe(0)
    expect(err).toContain('connection lost')
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^paused-by-agent/)
    expect(lines.at(-1)).toBe('completed  Build 7 of main passed')
    expect(lines.filter((line) => line.startsWith('artifact'))).toHaveLength(1)
  })
})

describe('what cannot be served', () => {
  it('says so when the port is taken, and leaves the data alone', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve)
    })
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? String(address.port) : ''
    const { code, err } = await run('demo', '--port', port, ...here())
    other.close()
    expect(code).toBe(1)
    expect(err).toBe(
      `lull: Port ${port} is already in use. Stop what listens there, or choose another one (--port, PORT; 0 takes a free one).`,
    )
  })

  it('says so when another process has the data, and which', async () => {
    const first = await start('demo', '--port', '0', ...here())
    const { code, err } = await run('demo', '--port', '0', ...here())
    expect(code).toBe(1)
    expect(err).toContain(`pid ${first.child.pid}`)
    expect(err).toContain('--data')
    expect(err.split('\n')).toHaveLength(1)
  })

  it('says so when the data directory cannot be made', async () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    const { code, err } = await run('demo', '--port', '0', '--data', join(file, 'data'))
    expect(code).toBe(1)
    expect(err).toContain('cannot be written to')
    expect(err.split('\n')).toHaveLength(1)
  })

  it('says so when a variable makes no sense', async () => {
    const process = lull(['demo', ...here()], { PORT: 'http' })
    processes.push(process)
    const { code, err } = await process.ended
    expect(code).toBe(2)
    expect(err).toContain('PORT: "http" is not a port')
  })
})

it('survives agents that let errors go', async () => {
  const file = join(directory, 'agents.mjs')
  writeFileSync(
    file,
    `export const agents = [{
      name: 'careless',
      description: 'Lets promises go',
      async run(task) {
        Promise.reject(new Error('a promise nobody waits for'))
        setImmediate(() => { throw new Error('a timer that throws') })
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        return 'still here'
      },
    }]`,
  )
  const server = await start('serve', file, '--port', '0', ...here())
  const { out } = await run('send', server.url, 'Hello')
  expect(out).toContain('completed  still here')
  server.signal('SIGTERM')
  const { code, err } = await server.ended
  expect(code).toBe(0)
  expect(err).toContain('a promise nobody waits for')
  expect(err).toContain('a timer that throws')
})

it('prints no colours where there is no terminal', async () => {
  const { out } = await run('--help')
  expect(out).not.toContain('\u001b')
})
