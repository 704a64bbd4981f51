/** The built program while things break beneath it: its writing thread, the disk, its files. */
import { once } from 'node:events'
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { type LullProcess, lull } from './lull-process.ts'

const agents = fileURLToPath(new URL('./faults/agents.mjs', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'lull-faults-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

interface Server {
  readonly program: LullProcess
  readonly url: string
}

async function start(
  data: string,
  limits = 'true',
  main?: string,
  more: readonly string[] = [],
): Promise<Server> {
  const args = ['serve', agents, '--port', '0', '--data', data, '--json', ...more]
  const program = lull(args, { LOG_LEVEL: 'info' }, { before: limits, main })
  onTestFinished(() => program.signal('SIGKILL'))
  const { url } = JSON.parse(await program.said(/^\{"url/)) as { url: string }
  return { program, url }
}

const PAGE = 4_096
let count = 0

interface Reply {
  readonly result?: { readonly task: { readonly id: string } }
  readonly error?: { readonly code: number; readonly message: string }
}

async function call(url: string, method: string, params: unknown, agent = ''): Promise<Reply> {
  const response = await fetch(`${url}${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as Reply
}

function send(url: string, text: string, agent = ''): Promise<Reply> {
  const message = { messageId: `m-${count++}`, role: 'ROLE_USER', parts: [{ text }] }
  const configuration = { returnImmediately: true }
  return call(url, 'SendMessage', { message, configuration }, agent)
}

async function statusOf(url: string, path: string): Promise<number> {
  return (await fetch(`${url}${path}`)).status
}

const errorLines = (err: string): readonly string[] =>
  err.split('\n').filter((line) => line.includes('"the store failed"'))

it('tells that its writing thread is gone, and ends in bounded time', async () => {
  const { program, url } = await start(await directory())
  await send(url, 'hello', '/agents/busy')
  program.signal('SIGUSR2')
  await program.warned(/the thread that writes lull\.db has ended/)

  expect((await send(url, 'hello')).error?.code).toBe(-32000)
  expect(await statusOf(url, '/readyz')).toBe(503)
  expect(await statusOf(url, '/healthz')).toBe(503)
  program.signal('SIGTERM')
  const { code, err } = await program.ended
  expect(code).toBe(0)
  expect(errorLines(err)).toHaveLength(1)
})

it('logs sends that a full disk refuses, once, and keeps answering reads', async () => {
  const { program, url } = await start(await directory(), 'ulimit -f 2000')
  const first = (await send(url, 'kept')).result?.task.id
  const big = 'x'.repeat(50_000)
  let refused: Reply | undefined
  for (let n = 0; n < 200 && refused?.error === undefined; n++) refused = await send(url, big)
  expect(refused?.error).toMatchObject({ code: -32000 })
  await program.warned(/the store failed/)
  await send(url, big)
  await send(url, big)

  expect((await call(url, 'GetTask', { id: first })).result).toBeDefined()
  expect(await statusOf(url, '/readyz')).toBe(503)
  program.signal('SIGTERM')
  const { code, err } = await program.ended
  expect(code).toBe(0)
  expect(errorLines(err)).toHaveLength(1)
})

it('is not ready once it has read damage, and answers with clear errors', async () => {
  const data = await directory()
  const before = await start(data)
  const ids: string[] = []
  for (let n = 0; n < 120; n++) {
    const { result } = await send(before.url, `${n} ${'x'.repeat(400)}`)
    ids.push(result?.task.id ?? '')
  }
  before.program.signal('SIGTERM')
  await before.program.ended
  damage(join(data, 'lull.db'))

  const { program, url } = await start(data)
  const codes = new Set<number | undefined>()
  for (const id of ids) codes.add((await call(url, 'GetTask', { id })).error?.code)
  expect(codes).toContain(-32000)
  expect(codes).not.toContain(-32603)
  expect(await statusOf(url, '/readyz')).toBe(503)
  program.signal('SIGTERM')
  const { err } = await program.ended
  expect(errorLines(err).filter((line) => line.includes('is damaged'))).toHaveLength(1)
})

/** Overwrites pages that hold records: the head of some, which SQLite notices, and the middle of others. */
function damage(file: string): void {
  const pages = readFileSync(file)
  const record = Buffer.from('x'.repeat(300))
  let hit = 0
  for (let at = 0; at < pages.length; at += PAGE) {
    if (!pages.subarray(at, at + PAGE).includes(record)) continue
    if (hit++ % 2 === 0) pages.fill(0xa5, at, at + 16)
    else pages.fill(0, at + PAGE / 2, at + PAGE / 2 + 64)
  }
  writeFileSync(file, pages)
}

it('serves A2A, drains and exits 0 when ACP could not be loaded', async () => {
  const copy = await directory()
  await cp(join(root, 'dist'), join(copy, 'dist'), { recursive: true })
  await cp(join(root, 'package.json'), join(copy, 'package.json'))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'dist/protocols/acp/index.js'), 'throw new Error("broken")')
  const { program, url } = await start(await directory(), 'true', join(copy, 'dist/cli/main.js'))
  expect(await statusOf(url, '/acp')).toBe(503)
  expect(await statusOf(url, '/acp')).toBe(503)
  expect((await send(url, 'hello')).result).toBeDefined()
  program.signal('SIGTERM')
  expect(await program.ended).toMatchObject({
    code: 0,
    err: expect.stringContaining('ACP could not be loaded'),
  })
})

it('refuses a database that was emptied or removed while other files of it are there', async () => {
  const data = await directory()
  const { program, url } = await start(data)
  await send(url, 'hello')
  program.signal('SIGTERM')
  await program.ended
  const again = () => lull(['serve', agents, '--port', '0', '--data', data], {}).ended
  truncateSync(join(data, 'lull.db'))
  expect(await again()).toMatchObject({ code: 1, err: expect.stringContaining('is empty') })
  rmSync(join(data, 'lull.db'))
  expect(await again()).toMatchObject({ code: 1, err: expect.stringContaining('is missing') })
})

it('refuses a copy of lull.db alone, and has every acknowledged task with the log beside it', async () => {
  const data = await directory()
  const { program, url } = await start(data)
  const ids = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => (await send(url, `task ${n}`)).result?.task.id),
  )
  program.signal('SIGKILL')
  await program.ended
  const alone = await directory()
  await cp(join(data, 'lull.db'), join(alone, 'lull.db'))
  const refused = await lull(['serve', agents, '--port', '0', '--data', alone]).ended
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringContaining('is a copy without its write-ahead log'),
  })

  await cp(join(data, 'lull.db-wal'), join(alone, 'lull.db-wal'))
  const again = await start(alone)
  for (const id of ids) {
    expect((await call(again.url, 'GetTask', { id })).result).toBeDefined()
  }
  again.program.signal('SIGKILL')
})

it('acknowledges nothing and is not ready once its database was removed beneath it', async () => {
  const data = await directory()
  const { program, url } = await start(data)
  await send(url, 'kept')
  rmSync(join(data, 'lull.db'))
  const ready = await fetch(`${url}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringContaining(`${join(data, 'lull.db')} was removed`),
  ])
  expect((await send(url, 'refused')).error?.code).toBe(-32000)
  expect(await statusOf(url, '/healthz')).toBe(503)
  program.signal('SIGTERM')
  const { code, err } = await program.ended
  expect(code).toBe(0)
  expect(errorLines(err)).toHaveLength(1)
})

it('says in one sentence that it may open too few files', async () => {
  const data = await directory()
  for (const files of [22, 40, 80]) {
    const limits = { before: `ulimit -n ${files}` }
    const args = ['serve', agents, '--port', '0', '--data', data, '--json']
    const program = lull(args, {}, limits)
    const started = program.said(/^\{"url/).then(
      () => true,
      () => false,
    )
    if (await started) program.signal('SIGKILL')
    const { out, err } = await program.ended
    expect(err).not.toMatch(/^\s+at /m)
    if (!(await started)) expect(out + err).toMatch(/open (enough|more) files/)
  }
})

/** Opens connections until the server drops one, because it has no descriptor left. */
async function takeAllDescriptors(port: number): Promise<readonly Socket[]> {
  const open: Socket[] = []
  const dropped = new Promise<void>((resolve) => {
    const add = (): void => {
      const socket = connect(port, '127.0.0.1', () => {
        if (open.length < 1_000) add()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve())
      open.push(socket)
    }
    add()
  })
  await dropped
  return open
}

it('loses no delivery and does not break while it has no free descriptors', async () => {
  const data = await directory()
  const config = join(data, '..', `${basename(data)}.json`)
  writeFileSync(config, JSON.stringify({ a2a: { pushToPrivate: true } }))
  onTestFinished(() => rm(config, { force: true }))
  let deliveries = 0
  const receiver = createServer((_request, response) => {
    deliveries++
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

  const { program, url } = await start(data, 'ulimit -n 256', undefined, ['--config', config])
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const configuration = { taskPushNotificationConfig: { url: hook } }
  const body = JSON.stringify({ message, configuration })
  const host = `Host: 127.0.0.1\r\nA2A-Version: 1.0\r\n`
  // One request is half sent before, so its connection is open.
  const client = connect(Number(new URL(url).port), '127.0.0.1')
  let answers = ''
  client.on('data', (chunk) => {
    answers += chunk
  })
  const answered = once(client, 'close')
  const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  client.write(`POST /message:send HTTP/1.1\r\n${host}${head}`)
  await once(client, 'connect')
  const taken = await takeAllDescriptors(Number(new URL(url).port))
  client.write(`${body}GET /metrics HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
  await answered
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  for (const socket of taken) socket.destroy()

  await expect.poll(() => deliveries, { timeout: 60_000 }).toBeGreaterThan(0)
  expect(await statusOf(url, '/healthz')).toBe(200)
  program.signal('SIGTERM')
  const { code, err } = await program.ended
  expect(code).toBe(0)
  expect(err).not.toContain('that no code waited for')
}, 120_000)
