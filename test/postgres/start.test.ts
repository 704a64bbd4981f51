/** What an operator reads when PostgreSQL cannot be used, and what a server does while it is away. */
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, it, onTestFinished } from 'vitest'
import { startProxy } from '../../src/stores/postgres/test-support/proxy.ts'
import { startPostgres } from '../../src/stores/postgres/test-support/server.ts'
import { type LullProcess, lull, serving } from '../scenarios/lull-process.ts'
import { removeTestStore } from '../support/test-store.ts'

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-postgres-start-'))
})
afterEach(async () => {
  rmSync(data, { recursive: true, force: true })
  await removeTestStore(data)
})

function changed(change: (url: URL) => void): string {
  const url = new URL(inject('postgres'))
  change(url)
  return url.href
}

const serve = ['serve', '--script', '--port', '0', '--data']

const refusals: readonly (readonly [string, () => string, number, RegExp])[] = [
  ['is not there', () => 'postgres://u:s3cret@127.0.0.1:1/x', 3, /does not answer at its address/],
  ['has no such host', () => 'postgres://u:s3cret@nowhere.invalid/x', 3, /has no address/],
  [
    'refuses the password',
    () => changed((url) => (url.password = 's3cret')),
    1,
    /refused the user or the password/,
  ],
]

it.each(refusals)('says in one sentence that PostgreSQL %s', async (_, url, code, sentence) => {
  const ended = await lull([...serve, data, '--postgres', url()]).ended
  expect(ended.code).toBe(code)
  expect(ended.err).toMatch(sentence)
  expect(ended.err.split('\n').filter((line) => line.startsWith('lull: '))).toHaveLength(1)
  expect(ended.err).not.toMatch(/:s3cret@|password=|^\s+at /m)
})

it('is not ready while PostgreSQL is away, answers within bounds, and goes on when it is back', async () => {
  const database = await startPostgres()
  onTestFinished(database.remove)
  const server = await serving([...serve, data, '--postgres', database.url])
  onTestFinished(async () => {
    server.signal('SIGKILL')
    await server.ended
  })
  const status = async () => (await fetch(`${server.url}/readyz`)).status
  expect(await status()).toBe(200)
  await database.stop('immediate')
  await expect.poll(status).toBe(503)
  await database.start()
  await expect.poll(status).toBe(200)
  expect(await send(server)).toContain('completed')
})

it('ends its start with the exit code of an unreachable server when PostgreSQL takes the connection and says nothing', async () => {
  const held = new Set<Socket>()
  const silent = createServer((socket) => held.add(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of held) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const url = `postgres://u:s3cret@127.0.0.1:${port}/x`
  const { code, err } = await lull([...serve, data, '--postgres', url]).ended
  expect(code).toBe(3)
  expect(err).toMatch(/does not answer/)
  expect(held.size).toBe(1)
})

it('says that it is not ready, and stops, while PostgreSQL says nothing', async () => {
  const proxy = await startProxy(inject('postgres'))
  const server = await serving([...serve, data, '--postgres', proxy.url])
  onTestFinished(async () => {
    server.signal('SIGKILL')
    await server.ended
  })
  proxy.silence()
  const ready = await fetch(`${server.url}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringContaining('the store has not answered for 2 s'),
  ])
  server.signal('SIGTERM')
  expect((await server.ended).code).toBe(0)
})

async function send(server: LullProcess & { readonly url: string }): Promise<string> {
  return (await lull(['send', server.url, 'hello']).ended).out
}
