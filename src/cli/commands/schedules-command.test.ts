/** Schedules from the command line, against a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import { type RunningServer, serve } from '../../server/serve.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'
import { scheduleLine } from './schedules-command.ts'

const digest = agent({
  name: 'digest',
  description: 'Sums up',
  schedule: [{ name: 'nightly', cron: '0 3 1 1 *', timezone: 'Europe/Berlin', message: 'Sum up' }],
  run: () => 'done',
})
const plainAgent = agent({ name: 'plain', description: 'x', run: () => 'done' })

async function open(...agents: readonly (typeof digest)[]): Promise<RunningServer> {
  return serve({ agents, port: 0, store: 'memory', log: () => undefined, quiet: true })
}

let server: RunningServer
beforeAll(async () => {
  server = await open(digest)
})
afterAll(() => server.close())

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli([...args, '--url', server.url], io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

it('lists, pauses, resumes and runs a schedule', async () => {
  const id = 'digest:nightly'
  const times = '0 3 1 1 * (Europe/Berlin)'
  const listed = await run('schedules')
  expect(listed.out).toMatch(
    /^digest:nightly {2}0 3 1 1 \* \(Europe\/Berlin\) {2}next in \d+ \w+, \d{4}-01-01T02:00/,
  )
  expect((await run('schedules', 'pause', id)).out).toBe(`${id}  ${times}  paused by anonymous`)
  expect(JSON.parse((await run('schedules', '--json')).out)).toMatchObject({
    schedules: [{ scheduleId: id, paused: true, missed: 'skip' }],
  })
  expect((await run('schedules', 'resume', id)).out).toContain('next ')
  const ran = await run('schedules', 'run', id)
  const [, taskId = ''] = ran.out.split(' ')
  expect((await run('tasks', 'show', taskId)).out).toContain('Sum up')
})

it('refuses what is no schedule', async () => {
  expect(await run('schedules', 'pause')).toMatchObject({ code: 2 })
  const unknown = await run('schedules', 'run', 'digest:weekly')
  expect(unknown).toMatchObject({ code: 1 })
  expect(unknown.err).toContain('There is no schedule digest:weekly')
})

it('says that there is none', async () => {
  const other = await open(plainAgent)
  const io = createFakeIo()
  await runCli(['schedules', '--url', other.url], io)
  expect(io.out).toEqual(['No agent has a schedule'])
  await other.close()
})

it('shows which times failed, and why', () => {
  const time = '2026-01-01T03:00:00.000Z'
  const why = 'the database\u001b[31m is away'
  const line = scheduleLine(
    {
      scheduleId: 'digest:nightly',
      agent: 'digest',
      name: 'nightly',
      times: '0 3 * * *',
      missed: 'skip',
      paused: false,
      failed: [
        { time, attempts: 6, why },
        { time, attempts: 1, why, retryAt: '9999-01-01T00:00:00.000Z' },
      ],
    },
    createFakeIo(),
  )
  const [, first, second] = line.split('\n')
  expect(first).toMatch(/^ {2}2026-01-01T03:00:00.000Z {2}failed 6 times, given up {2}the database/)
  expect(second).toMatch(/failed once, again in \d+/)
  expect(line).not.toContain('\u001b')
})
