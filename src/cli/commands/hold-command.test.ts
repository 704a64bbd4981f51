/** Holds and receipts from the command line, against a real server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { demoAgents } from '../../demo/demo-agents.ts'
import { type RunningServer, serve } from '../../server/serve.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

let server: RunningServer
beforeAll(async () => {
  server = await serve({
    agents: demoAgents,
    port: 0,
    store: 'memory',
    log: () => undefined,
    quiet: true,
  })
})
afterAll(() => server.close())

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli([...args, '--url', server.url], io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

async function parkedBuild(number: number): Promise<string> {
  const io = createFakeIo()
  const url = `${server.url}/agents/builder`
  await runCli(['send', url, `Run build ${number} of main`, '--json'], io)
  return (JSON.parse(io.out.join('')) as { task: { id: string } }).task.id
}

it('previews, places, lists and lifts a hold', async () => {
  await parkedBuild(1)
  const scope = ['--agent', 'builder']
  expect((await run('hold', ...scope, '--preview')).out).toBe(
    'This would hold 1 task: 1 paused-by-agent',
  )
  const placed = await run('hold', ...scope, '--reason', 'incident')
  expect(placed.out).toMatch(/^hold-\S+ {2}holds 1 task\n/)
  const [holdId = ''] = placed.out.split(' ')
  expect((await run('hold', 'list')).out).toContain('agent builder  incident')
  expect((await run('hold', 'lift', holdId)).out).toBe(`${holdId}  lifted from 1 task`)
  expect((await run('hold', 'list')).out).toBe('Nothing is held')
  const again = await run('hold', 'lift', holdId)
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('nothing is held')])
  const [other = ''] = (await run('hold', ...scope, '--reason', 'second')).out.split(' ')
  expect((await run('hold', 'lift', 'hold-1')).err).toContain(`in effect: ${other}`)
  await run('hold', 'lift', other)
})

it.each([
  [['hold', '--reason', 'x'], 'say what to hold'],
  [['hold', '--all', '--agent', 'builder', '--reason', 'x'], 'give one scope'],
  [['hold', '--all', '--tenant', 'acme', '--reason', 'x'], 'give one scope'],
  [['hold', '--all'], '--reason says why'],
  [['hold', 'lift'], 'give one hold id'],
])('refuses %j: %s', async (args, problem) => {
  const { code, err } = await run(...args)
  expect(code).toBe(2)
  expect(err).toContain(problem)
})

it('verifies the receipts of a task', async () => {
  const taskId = await parkedBuild(2)
  const { code, out } = await run('receipts', 'verify', taskId)
  expect(code).toBe(0)
  expect(out).toMatch(/1 receipt, \d+ records: verified$/)
})

it('exports a task that an outsider verifies with the public keys alone', async () => {
  const taskId = await parkedBuild(2)
  const directory = mkdtempSync(join(tmpdir(), 'lull-export-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'task.jsonl')
  expect(await run('export', taskId, '--out', file)).toMatchObject({ code: 0 })
  const url = `${server.url}/.well-known/lull-receipt-keys.json`
  const good = await run('receipts', 'verify', '--export', file, '--keys', url)
  expect(good).toMatchObject({ code: 0 })
  expect(good.out).toMatch(/1 receipt, \d+ records: verified$/)
  const own = await run('receipts', 'verify', '--export', file)
  expect(own.out).toContain('Give --keys to check whose they are')

  const twice = await run('import', file)
  expect(twice).toMatchObject({ code: 1 })
  expect(twice.err).toContain('exists here already')

  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('"text":"', '"text":"not '))
  const changed = await run('receipts', 'verify', '--export', file, '--json')
  expect(changed.code).toBe(1)
  expect(JSON.parse(changed.out)).toMatchObject({
    verified: false,
    receipts: [{ verdict: 'wrong' }],
  })

  writeFileSync(file, text.split('\n').slice(1).join('\n'))
  const headless = await run('receipts', 'verify', '--export', file)
  expect(headless).toMatchObject({ code: 2 })
  expect(headless.err).toContain('is not an export of Lull')
})
