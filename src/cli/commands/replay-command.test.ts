/** `lull replay` against a server, and against the data directory of one that is stopped. */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import { type RunningServer, serve } from '../../server/serve.ts'
import { createSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { keyIn } from '../../testing/key-in.ts'
import { loadAgents } from '../input/load-agents.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

const payer = agent({
  name: 'payer',
  description: 'Charges, and waits for the money',
  async run(task) {
    await task.step('charge', () => 1)
    await task.park({ reason: 'waits for the money', onEvent: 'paid' })
  },
})

/** A module with an agent of this name whose first step has that name. */
function moduleOf(name: string, step: string): string {
  const path = join(directory, `${name}-${step}.mjs`)
  writeFileSync(
    path,
    `export const agents = [{
      name: ${JSON.stringify(name)}, description: 'x',
      async run(task) {
        await task.step(${JSON.stringify(step)}, () => { throw new Error('a step ran') })
        await task.park({ reason: 'other words', onEvent: 'paid' })
      },
    }]`,
  )
  return path
}

let directory: string
let server: RunningServer
let taskId: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-replay-'))
  server = await serve({ ...quiet, agents: [payer], data: directory })
  const io = createFakeIo()
  await runCli(['send', server.url, 'go', '--json'], io)
  taskId = (JSON.parse(io.out.join('')) as { task: { id: string } }).task.id
})
const quiet = { port: 0, log: () => undefined, quiet: true } as const
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli(['replay', ...args], io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

it('tells what happened to a task, and that its log folds to what the server shows', async () => {
  const { code, out } = await run('@last', '--url', server.url)
  expect(out).toMatch(/started\n[\s\S]*step {7}charge {2}done\n[\s\S]*stop {7}waits for the money/)
  expect(out).toMatch(/paused-by-agent {2}\d+ records, 1 receipt: the same, bit for bit$/)
  expect(code).toBe(0)
  const json = JSON.parse((await run(taskId, '--url', server.url, '--json')).out)
  expect(json).toMatchObject({ taskId, ok: true, faults: [], differences: [] })
})

it('says before a deployment which tasks fit, and which would stop and where', async () => {
  const at = ['--url', server.url]
  const fits = await run('--agents', moduleOf('payer', 'charge'), '--parked', ...at)
  expect(fits).toMatchObject({ code: 0, out: '1 open task: 1 fits' })
  const stops = await run('--agents', moduleOf('payer', 'charge-card'), ...at)
  expect(stops.code).toBe(1)
  expect(stops.out).toContain('asks for step "charge-card", and step "charge" is recorded there')
  expect(stops.out).toContain('1 open task: 1 stops')
  const gone = await run('--agents', moduleOf('other', 'charge'), ...at, '--json')
  expect(gone.code).toBe(1)
  expect(JSON.parse(gone.out)).toMatchObject({ counts: { 'agent-unknown': 1 } })
})

it('compares a consent with the one that a server recorded', async () => {
  const data = mkdtempSync(join(tmpdir(), 'lull-replay-consent-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  const module = (to: string): string => {
    const path = join(data, `${to}.mjs`)
    writeFileSync(
      path,
      `export const agents = [{
        name: 'transfer', description: 'x',
        async run(task) {
          const answer = await task.requireConsent({ prompt: 'Pay?', operation: { to: '${to}', eur: 5 } })
          await task.park({ reason: answer.decision, onEvent: 'paid' })
        },
      }]`,
    )
    return path
  }
  const unchanged = module('ann')
  const agents = await loadAgents(unchanged)
  const asking = await serve({ ...quiet, agents, data })
  const io = createFakeIo()
  await runCli(['send', asking.url, 'go', '--json'], io).finally(() => asking.close())
  expect(JSON.parse(io.out.join(''))).toMatchObject({ task: { state: 'user-consent-required' } })
  const stored = ['--data', data] as const
  expect((await run('--agents', unchanged, ...stored)).out).toBe('1 open task: 1 fits')
  expect((await run('--agents', module('bob'), ...stored)).out).toContain('1 open task: 1 stops')
})

it('forks a task at a step, and says which steps there are', async () => {
  const forked = async (...args: readonly string[]) => {
    const io = createFakeIo()
    const code = await runCli(['fork', taskId, '--url', server.url, ...args], io)
    return { code, out: io.out.join('\n'), err: io.err.join('\n') }
  }
  const wrong = await forked('--at', 'nothing')
  expect(wrong.err).toContain('It has: charge#1 (record 3), park#1 (record 4)')
  expect(wrong.code).toBe(1)
  expect((await forked()).code).toBe(2)
  const made = await forked('--at', 'park', '--paused', '--input', 'rail', '--json')
  const fork = JSON.parse(made.out)
  expect(fork).toMatchObject({ forkedFrom: taskId, state: 'paused-by-client' })
  expect(await run(fork.taskId, '--url', server.url)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`forked from task ${taskId}`),
  })
  await runCli(['tasks', 'cancel', fork.taskId, '--url', server.url], createFakeIo())
})

it.each([
  [[], 'give one task id, or --agents and a module'],
  [['a', 'b'], 'give one task id'],
  [['a', '--parked'], '--parked belongs to --agents'],
  [['a', '--data', 'x', '--postgres', 'postgres://x'], 'give one of --url, --data and --postgres'],
  [['a', '--migrate'], '--migrate belongs to --data or --postgres'],
  [['--agents', 'nowhere.mjs'], 'there is no file nowhere.mjs'],
])('refuses %j: %s', async (args, problem) => {
  const { code, err } = await run(...args)
  expect(err).toContain(problem)
  expect(code).toBe(2)
})

it('reads the data directory of a stopped server, and finds a row that was changed', async () => {
  await server.close()
  const data = ['--data', directory]
  expect(await run(taskId.slice(-6), ...data)).toMatchObject({ code: 0 })
  expect((await run('--agents', moduleOf('payer', 'charge'), ...data)).out).toBe(
    '1 open task: 1 fits',
  )
  expect((await run(taskId, '--data', tmpdir())).err).toContain('there is no lull.db in')
  await expectNoKeyMade()
  const store = await createSqliteStore({ path: directory })
  const row = await store.row(...(await keyIn(store, taskId)))
  const [last] = (await store.records(...(await keyIn(store, taskId)), 0, 100)).slice(-1)
  const said = { type: 'said', key: 'say#1', seq: (last?.seq ?? 0) + 1, at: 1 } as const
  // The row says something else than the log.
  if (row === undefined) throw new Error('the task has no row')
  const changed = { ...row, agent: 'payer', waits: ['other'] }
  await store.commit([
    { tenant: changed.tenant, taskId, expected: said.seq - 1, records: [said], row: changed },
  ])
  await store.close()
  const { code, out } = await run(taskId, ...data)
  expect(out).toContain('waits of the row is not what the log folds to')
  expect(code).toBe(1)
})

/** A copy without the key gets none. Its receipts cannot be checked, which is said once. */
async function expectNoKeyMade(): Promise<void> {
  const copy = join(directory, 'copy')
  cpSync(join(directory, 'lull.db'), join(copy, 'lull.db'))
  const { code, out } = await run(taskId, '--data', copy)
  expect(out.match(/the signatures of the receipts cannot be checked/g)).toHaveLength(1)
  expect(out).not.toContain('another key')
  expect(code).toBe(1)
  expect(existsSync(join(copy, 'receipt.key'))).toBe(false)
}
