/** The commands that speak to a server, against a real one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoAgents } from '../demo/demo-agents.ts'
import { type RunningServer, serve } from '../server/serve.ts'
import { runCli } from './run-cli.ts'
import { createFakeIo } from './test-support/fake-io.ts'

let directory: string
let server: RunningServer
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-remote-'))
  const data = join(directory, 'data')
  server = await serve({ agents: demoAgents, port: 0, data, log: () => undefined, quiet: true })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli(args, io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

const send = (...args: readonly string[]) => run('send', server.url, ...args)
const tasks = (...args: readonly string[]) => run('tasks', ...args, '--url', server.url)

async function taskOf(text: string): Promise<string> {
  const { out } = await send(text, '--json')
  return (JSON.parse(out) as { task: { id: string } }).task.id
}

describe('send', () => {
  it('shows an answer', async () => {
    expect(await send('Hello')).toEqual({ code: 0, out: 'Hello! What can I do for you?', err: '' })
  })

  it('shows a task with what it made, and saves that', async () => {
    const pictures = join(directory, 'pictures')
    const { out, err } = await send('Paint a lighthouse', '--context', 'c1', '--save', pictures)
    expect(out).toMatch(/^Task \S+ {2}completed\n {2}lighthouse_image\.png/)
    expect(out).toContain('context  c1')
    const file = join(pictures, 'lighthouse_image.png')
    expect(err).toBe(`wrote ${file}`)
    expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG')
  })

  it('continues a conversation, and refers to tasks', async () => {
    const first = await taskOf('Paint a sailboat')
    const task = await run('tasks', 'show', first, '--json', '--url', server.url)
    const { contextId } = JSON.parse(task.out) as { contextId: string }
    const { out } = await send('Make it green', '--context', contextId, '--reference', first)
    expect(out).toContain('A generated image of a green sailboat.')
  })

  it('answers a question', async () => {
    const asking = await taskOf('Book a flight to Oslo.')
    const { out } = await send('Yes, I consent', '--task', asking)
    expect(out).toContain('flight_confirmation.pdf')
  })

  it('takes its text from a file', async () => {
    const file = join(directory, 'text')
    writeFileSync(file, 'Hello')
    expect((await send('--file', file)).out).toBe('Hello! What can I do for you?')
  })

  it('shows everything that happens, in lines or in JSON', async () => {
    const script = JSON.stringify({ script: [{ say: 'on my way' }, { complete: 'there' }] })
    const lines = await send(script, '--stream')
    expect(lines.out).toContain('working  on my way\ncompleted  there')
    const frames = (await send(script, '--stream', '--json')).out.split('\n')
    const kinds = frames.map((frame) => (JSON.parse(frame) as { kind: string }).kind)
    expect(kinds).toEqual(expect.arrayContaining(['task', 'status']))
  })

  it('says what the server refused, with exit code 1', async () => {
    const { code, err } = await send('Hello', '--task', 'no-such-task')
    expect(code).toBe(1)
    expect(err).toBe('lull: Task no-such-task was not found')
  })

  it('says what an address that is no agent answers', async () => {
    const { code, err } = await run('send', `${server.url}/healthz`, 'Hello')
    expect([code, err]).toEqual([1, 'lull: POST is not possible here; use GET, HEAD'])
  })
})

describe('a task that was waited for', () => {
  it.each([
    ['failed', { fail: 'no' }],
    ['rejected', { reject: 'no' }],
  ])('gives exit code 4 when it %s', async (state, op) => {
    const { code, out } = await send(JSON.stringify({ script: [op] }))
    expect([code, out]).toEqual([4, expect.stringContaining(state)])
    expect((await tasks('watch', '@last')).code).toBe(4)
  })

  it('gives exit code 0 when nobody waited', async () => {
    expect((await send('{"script": [{"fail": "no"}]}', '--detach')).code).toBe(0)
  })

  it('shows its text', async () => {
    const script = { script: [{ artifact: { name: 'poem', text: 'one\ntwo' } }] }
    expect((await send(JSON.stringify(script))).out).toContain('    one\n    two')
  })

  it('shows its text as it comes, and its steps', async () => {
    const artifact = { name: 'poem', text: 'abcdef', chunks: 3 }
    const script = { script: [{ step: 'look', ms: 1 }, { artifact }, { complete: 'done' }] }
    const { out } = await send(JSON.stringify(script), '--stream')
    expect(out.split('\n')).toEqual(expect.arrayContaining(['step  look  done', 'abcdef']))
  })
})

describe('answer', () => {
  it('answers a question with a text or with data', async () => {
    const script = JSON.stringify({ script: [{ ask: 'which?' }, { echo: 'input' }] })
    const { out } = await run('answer', await taskOf(script), 'this', '--url', server.url)
    expect(out).toContain('completed')
    const data = ['--data', '{"a": 1}', '--json', '--url', server.url]
    const told = await run('answer', await taskOf(script), ...data)
    expect(told.out).toContain('"a":1')
  })

  it.each([
    ['--grant', 'completed', 0],
    ['--deny', 'rejected', 4],
  ])('decides on a consent with %s', async (flag, state, code) => {
    const consent = { prompt: 'Push?', operation: { push: 'main' } }
    const id = await taskOf(JSON.stringify({ script: [{ consent }, { complete: 'pushed' }] }))
    const answered = await run('answer', id, flag, '--url', server.url)
    expect([answered.code, answered.out]).toEqual([code, expect.stringContaining(state)])
  })

  it('refuses two answers, none, and a task that asks nothing', async () => {
    const id = await taskOf('{"script": [{"complete": "done"}]}')
    expect((await run('answer', id, 'x', '--grant')).code).toBe(2)
    expect((await run('answer', id)).code).toBe(2)
    const { code, err } = await run('answer', id, 'x', '--url', server.url)
    expect([code, err]).toEqual([1, `lull: Task ${id} is completed and waits for no answer`])
  })
})

describe('short names of tasks', () => {
  it('are a unique beginning or ending, or @last', async () => {
    const id = await taskOf('{"script": [{"complete": "named"}]}')
    for (const name of [id.slice(-12), id.slice(0, -1), '@last']) {
      expect((await tasks('show', name)).out).toContain(id)
    }
    expect((await tasks('show', 'ab')).code).toBe(2)
  })

  it('are refused when they fit two tasks', async () => {
    const [first] = [await taskOf('{"script": []}'), await taskOf('{"script": []}')]
    const { code, err } = await tasks('show', first.slice(0, 8))
    expect([code, err]).toEqual([2, expect.stringContaining('part of more than one id')])
  })
})

describe('tasks', () => {
  const waiting = '{"script": [{"park": {"reason": "told to"}}, {"complete": "done"}]}'

  it('lists them, all or by state, as a table, as ids or as JSON', async () => {
    const id = await taskOf(waiting)
    const table = await tasks('list', '--state', 'paused-by-agent')
    expect(table.out).toMatch(
      new RegExp(`^${id} {2}paused-by-agent .* guide .*told to\\. Wakes `, 'm'),
    )
    const ofAgent = await run('tasks', 'list', '--url', `${server.url}/agents/painter`)
    expect(ofAgent.out).not.toContain(id)
    const ids = await tasks('list', '-q', '--state', 'paused-by-agent', '--limit', '1')
    expect(ids.out).toBe(id)
    const json = await tasks('list', '--json', '--limit', '2')
    expect((JSON.parse(json.out) as { tasks: unknown[] }).tasks).toHaveLength(2)
    await tasks('cancel', id)
  })

  it('shows what one waits for and what was said', async () => {
    const id = await taskOf(waiting)
    const { out } = await tasks('show', id)
    expect(out).toContain('paused-by-agent  told to')
    expect(out).toContain('wakes    only when it is resumed')
    expect(out).toContain('user     {"script"')
    await tasks('cancel', id)
  })

  it('resumes one that is parked, and tells who was too late', async () => {
    const id = await taskOf(waiting)
    const wrong = await tasks('resume', id, '--handle', 'suspend-other')
    expect(wrong.code).toBe(1)
    expect((await tasks('resume', id)).out).toBe(`Task ${id}  working, was paused-by-agent`)
    expect((await tasks('watch', id)).out).toContain('completed  done')
    const late = await tasks('resume', id, '--json')
    expect(late.code).toBe(1)
    expect(JSON.parse(late.out)).toMatchObject({ error: { code: 'TASK_NOT_PAUSED' } })
  })

  it('pauses, resumes with input, and cancels', async () => {
    const script = { script: [{ repeat: 500, ops: [{ step: 'tick', ms: 5 }] }] }
    const { out } = await send(JSON.stringify(script), '--detach', '--json')
    const { id } = (JSON.parse(out) as { task: { id: string } }).task
    const paused = await tasks('pause', id, '--reason', 'lunch', '--mode', 'finish_step')
    expect(paused.out).toMatch(new RegExp(`^Task ${id} {2}paused-by-client {2}suspend-`))
    expect((await tasks('show', id)).out).toContain('paused-by-client  lunch')
    expect((await tasks('resume', id, '--input', '{"more": 1}')).code).toBe(0)
    expect((await tasks('cancel', id)).out).toBe(`Task ${id}  canceled`)
  })
})

describe('events', () => {
  const emit = (...args: readonly string[]) => run('events', 'emit', ...args, '--url', server.url)
  const parkedOn = (name: string): Promise<string> => {
    const park = { reason: 'ci', conditions: { onEvent: name } }
    return taskOf(JSON.stringify({ script: [{ park }, { echo: 'wake' }, { complete: 'done' }] }))
  }

  it('wakes the task that waits for it, with its data', async () => {
    const id = await parkedOn('ci.done:7')
    const { code, out } = await emit('ci.done', '--subject', '7', '--data', '{"ok": true}')
    expect(code).toBe(0)
    expect(out).toMatch(/^Event \S+ {2}ci\.done:7 {2}accepted, woke 1 task$/)
    expect((await tasks('watch', id)).out).toContain('completed  done')
    const shown = await tasks('show', id, '--json')
    expect(shown.out).toContain('"data":{"ok":true}')
  })

  it('says in lines and in JSON that it was known already', async () => {
    const once = ['done', '--source', 'ci', '--id', '1'] as const
    const first = await emit(...once, '--json')
    expect(JSON.parse(first.out)).toEqual({ id: '1', accepted: 1, duplicates: 0, woken: 0 })
    const again = await emit(...once)
    expect([again.code, again.out]).toEqual([0, 'Event 1  done  known already, nothing done'])
    expect(JSON.parse((await emit(...once, '--json')).out)).toMatchObject({ duplicates: 1 })
  })

  it('says how many tasks it woke, of those that wait by name or by filter', async () => {
    await Promise.all([parkedOn('deploy.done'), parkedOn('deploy.done'), parkedOn('deploy.failed')])
    expect((await emit('deploy.done')).out).toMatch(/accepted, woke 2 tasks$/)
    expect((await emit('deploy.done')).out).toMatch(/accepted, no task waits for it$/)
  })

  it('finds the server behind the address of an agent', async () => {
    const { code } = await run('events', 'emit', 'x', '--url', `${server.url}/agents/builder/`)
    expect(code).toBe(0)
  })

  it('says what is wrong with it, and where no events are taken', async () => {
    const { code, err } = await emit('done', '--subject', '')
    expect([code, err]).toEqual([1, 'lull: subject: must have a length of at least 1'])
    const json = await emit('done', '--id', 'x'.repeat(300), '--json')
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'INVALID_INPUT' } })
    const elsewhere = createServer((_, response) => response.writeHead(404).end('<html>'))
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const { port } = elsewhere.address() as AddressInfo
    const wrong = await run('events', 'emit', 'done', '--url', `http://127.0.0.1:${port}`)
    elsewhere.close()
    expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('takes no events')])
  })
})

describe('audit', () => {
  const audit = (...args: readonly string[]) => run('audit', ...args, '--url', server.url)

  it('shows who did what to a task, and prints entries as lines of JSON', async () => {
    const taskId = await taskOf('Book a flight to Rome')
    await tasks('cancel', taskId)
    const { code, out } = await audit('--task', taskId)
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`default/anonymous {2}task\\.cancel {2}${taskId} {2}done$`, 'm'))
    const lines = (await audit('--task', taskId, '--json')).out.split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toContain(
      'task.cancel',
    )
    expect((await audit('--task', 'never-mentioned', '--json')).out).toBe('')
  })

  it('says so when nothing was recorded', async () => {
    expect((await audit('--task', 'never-mentioned')).out).toBe(
      'Nothing that matches was recorded in the last 24 hours; --since 7d looks further back',
    )
    expect((await audit('--principal', 'nobody', '--since', '7d')).out).toBe(
      'Nothing that matches was recorded since 7d',
    )
  })

  it('refuses a time that it does not understand', async () => {
    const { code, err } = await audit('--since', 'yesterday')
    expect(code).toBe(2)
    expect(err).toContain('--since takes a time')
  })
})
