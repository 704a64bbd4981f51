/** `lull tasks remind`, against a real server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import { type RunningServer, serve } from '../../server/serve.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

let directory: string
let server: RunningServer
let taskId: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-remind-'))
  const deaf = agent({ ...createScriptAgent({ name: 'deaf' }), reminders: false })
  server = await serve({
    agents: [createScriptAgent(), deaf],
    port: 0,
    data: directory,
    log: () => undefined,
    quiet: true,
  })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})
beforeEach(async () => {
  taskId = await parked(server.url)
})

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli(args, io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

async function parked(url: string): Promise<string> {
  const script = JSON.stringify({ script: [{ park: { reason: 'x' } }, { echo: 'reminders' }] })
  const { out } = await run('send', url, script, '--json')
  return (JSON.parse(out) as { task: { id: string } }).task.id
}

const remind = (...args: readonly string[]) =>
  run('tasks', 'remind', taskId, ...args, '--url', server.url)
const pending = async (): Promise<readonly Record<string, unknown>[]> =>
  (JSON.parse((await remind('--json')).out) as { reminders: Record<string, unknown>[] }).reminders

describe('with a text', () => {
  it('reminds the task, with every field', async () => {
    const flags = ['--ttl', '2', '--tag', 'a', '--tag', 'b', '--key', 'k', '--id', 'r-1']
    const more = ['--mode', 'interrupt_immediate', '--propagate', 'all', '--role', 'developer']
    const rest = ['--source', 'me', '--preserve']
    const { code, out } = await remind('Rebase first.', ...flags, ...more, ...rest)
    expect([code, out]).toEqual([0, 'Reminder r-1  accepted'])
    expect(await pending()).toMatchObject([
      {
        id: 'r-1',
        body: 'Rebase first.',
        ttlTurns: 2,
        tags: ['a', 'b'],
        dedupeKey: 'k',
        mode: 'interrupt_immediate',
        propagate: 'all',
        roleHint: 'developer',
        source: 'me',
        preserveOnCompact: true,
      },
    ])
  })

  it('says what it displaced, and prints JSON', async () => {
    await remind('one', '--key', 'k')
    expect((await remind('two', '--key', 'k')).out).toMatch(/accepted, in place of 1 reminder$/)
    expect(JSON.parse((await remind('three', '--json')).out)).toMatchObject({
      reminderId: expect.any(String),
      dedupedCount: 0,
    })
  })

  it('says what the server refused, with exit code 1', async () => {
    const { code, err } = await remind(' ')
    expect([code, err]).toEqual([1, 'lull: reminder.body: must not be blank'])
    taskId = 'no-such-task'
    expect(await remind('x')).toMatchObject({
      code: 1,
      err: 'lull: Task no-such-task was not found',
    })
    taskId = await parked(`${server.url}/agents/deaf`)
    expect(await remind('x')).toMatchObject({ code: 1 })
  })

  it.each([
    [['--ttl', '0'], '--ttl takes a number of turns, 1 or more'],
    [['--ttl', 'two'], '--ttl takes a number of turns, 1 or more'],
    [['--mode', 'now'], 'there is no mode "now"; there are wait_for_completion'],
    [['--propagate', 'far'], 'there is no propagate "far"; there are session, all, none'],
    [['--role', 'user'], 'there is no role "user"; there are system, developer'],
    [['more'], 'give one task id, and the text in quotes'],
    [['--clear'], '--clear takes no text'],
  ])('is wrong usage with %j', async (flags, sentence) => {
    const { code, err } = await remind('text', ...flags)
    expect(code).toBe(2)
    expect(err).toContain(sentence)
  })
})

describe('without a text', () => {
  it('shows what is pending, and nothing that could change the terminal', async () => {
    expect((await remind()).out).toBe('No reminders are pending')
    await remind('short\u001b[2J', '--id', 'r-1', '--ttl', '1', '--tag', 'a')
    await remind(`long ${'x'.repeat(200)}`, '--id', 'r-2')
    const [first, second] = (await remind()).out.split('\n')
    expect(first).toBe('r-1  1 turn  [a]  short[2J')
    expect(second).toMatch(/^r-2 {2}until the end {2}long x+…$/)
  })
})

describe('with --clear', () => {
  it('takes away those that are meant, or all', async () => {
    await remind('one', '--id', 'r-1')
    await remind('two', '--id', 'r-2', '--tag', 'a')
    await remind('three', '--id', 'r-3', '--key', 'k')
    await remind('four', '--id', 'r-4')
    await remind('five', '--id', 'r-5')
    for (const flags of [
      ['--id', 'r-1'],
      ['--tag', 'a'],
      ['--key', 'k'],
    ]) {
      expect((await remind('--clear', ...flags)).out).toBe('Cleared 1 reminder')
    }
    expect((await remind('--clear', '--tag', 'a')).out).toBe('Cleared 0 reminders')
    expect(JSON.parse((await remind('--clear', '--json')).out)).toEqual({ clearedCount: 2 })
    expect(await pending()).toEqual([])
  })
})

it('watch tells of every change', async () => {
  await remind('Mind the gap.', '--id', 'r-1', '--key', 'k', '--ttl', '1')
  const io = createFakeIo()
  const watching = runCli(['tasks', 'watch', taskId, '--url', server.url], io)
  await expect.poll(() => io.out).not.toEqual([])
  await remind('Mind the step.', '--id', 'r-2', '--key', 'k', '--ttl', '1')
  await run('tasks', 'resume', taskId, '--url', server.url)
  await watching
  const told = ['r-1: displaced by r-2', 'Mind the step.', 'r-2: expired (ttl)']
  for (const line of told) expect(io.out).toContain(`reminder  ${line}`)
})
