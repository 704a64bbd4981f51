import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { demoAgents } from '../../demo/demo-agents.ts'
import { serve } from '../../server/serve.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

async function doctor(url: string) {
  const io = createFakeIo()
  const data = join(tmpdir(), 'lull-doctor-none')
  const code = await runCli(['doctor', '--url', url, '--data', data], io)
  return { code, out: io.out }
}

const quiet = {
  agents: demoAgents,
  port: 0,
  store: 'memory',
  log: () => undefined,
  quiet: true,
} as const

it('finds a healthy server, its clock and its streams', async () => {
  const server = await serve(quiet)
  const { code, out } = await doctor(server.url)
  await server.close()
  expect(out.map((line) => line.slice(0, 16).trim())).toEqual([
    'ok    node',
    'ok    data',
    'ok    server',
    'ok    ready',
    'ok    clock',
    'ok    streams',
  ])
  expect(code).toBe(0)
})

it('reads the database of the data directory, and finds a destroyed one', async () => {
  const data = await mkdtemp(join(tmpdir(), 'lull-doctor-'))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const look = async (): Promise<readonly string[]> => {
    const io = createFakeIo()
    const code = await runCli(['doctor', '--data', data, '--url', 'http://127.0.0.1:9'], io)
    expect(code).toBe(1)
    return io.out.filter((line) => line.includes('lull.db'))
  }
  const server = await serve({ ...quiet, store: 'sqlite', data })
  expect(await look()).toEqual([expect.stringMatching(/^ok .*in use \(pid/)])
  await server.close()
  expect(await look()).toEqual([expect.stringMatching(/^ok .*whole, with 0 tasks/)])
  await truncate(join(data, 'lull.db'), 20_000)
  expect(await look()).toEqual([expect.stringMatching(/^fail .*cut off.*restore a backup/)])
  await rm(join(data, 'lull.db'))
  expect(await look()).toEqual([expect.stringMatching(/^fail .*is missing/)])
})

it('says what to do when no server is there', async () => {
  const { code, out } = await doctor('http://127.0.0.1:9')
  expect(code).toBe(1)
  expect(out.at(-1)).toMatch(/^fail {2}server .*start it/)
})

it('finds a clock that is wrong, and a server that is not Lull', async () => {
  const other = createServer((_, response) => {
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
    response.end('{}')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const { out } = await doctor(`http://127.0.0.1:${port}`)
  other.close()
  expect(out.find((line) => line.includes('clock'))).toMatch(/^warn .*NTP/)
  expect(out.find((line) => line.includes('streams'))).toMatch(/^warn/)
})
