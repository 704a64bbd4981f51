/** `lull tasks watch` in a terminal and piped, while the server is killed and comes back. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type LullProcess, lull, serving } from './lull-process.ts'
import { type Terminal, terminal } from './terminal.ts'

let data: string
let server: Awaited<ReturnType<typeof serving>>
let port: string
const open: Terminal[] = []
const piped: LullProcess[] = []

const serve = (on: string) => serving(['demo', '--port', on, '--data', data])

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-watch-'))
  port = `${await freePort()}`
  server = await serve(port)
})
afterEach(async () => {
  for (const one of open) one.kill()
  for (const { child } of piped) child.kill('SIGKILL')
  await Promise.all([...open.splice(0), ...piped.splice(0)].map(({ ended }) => ended))
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})

function watch(...args: readonly string[]): Terminal {
  const opened = terminal(['tasks', 'watch', ...args, '--url', server.url])
  open.push(opened)
  return opened
}

async function started(script: readonly object[]): Promise<string> {
  const client = createClient({ url: `${server.url}/agents/script` })
  const sent = await client.send(JSON.stringify({ script }), { returnImmediately: true })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

async function killServer(): Promise<void> {
  server.signal('SIGKILL')
  await server.ended
}

const client = () => createClient({ url: server.url })
const parked = (reason: string) => ({ reason, conditions: { timeout: { durationMinutes: 60 } } })
const rowsWith = (screen: string, pattern: RegExp) =>
  screen.split('\n').filter((row) => pattern.test(row))

describe('one task in a terminal', () => {
  it('is shown with its state, turn, step and a countdown, redrawn in place, until it ends', async () => {
    const taskId = await started([
      { park: parked('tea') },
      { step: 'brew', ms: 1 },
      { park: parked('cake') },
      { say: 'served' },
      { complete: 'done' },
    ])
    const view = watch(taskId)
    const first = /^ {2}wakes +in (\d+ min \d+ s)/m.exec(
      await view.shows(/^ {2}wakes +in \d+ min \d+ s/m),
    )
    // The next tick of the countdown replaces it.
    const next = new RegExp(`^ {2}wakes +in (?!${first?.[1]})\\d+ min \\d+ s`, 'm')
    const then = await view.shows(next)
    expect(rowsWith(then, /^ {2}wakes /)).toHaveLength(1)
    expect(then).toMatch(/paused-by-agent {2}script {2}turn \d {2}for \d+ \w+/)
    expect(then).toMatch(/why +tea/)

    await client().resume(taskId)
    await view.shows(/why +cake/)
    await view.shows(/step +brew done/)
    await client().resume(taskId)
    expect(await view.ended).toBe(0)
    const last = view.screen().trimEnd().split('\n')
    expect(last).toEqual(expect.arrayContaining(['step  brew  done', 'completed  done']))
    // The live lines are gone.
    expect(rowsWith(last.join('\n'), /^ {2}(wakes|why|step) /)).toEqual([])
  })

  it('goes on when the server was killed, and Ctrl-C ends the view, not the task', async () => {
    const taskId = await started([{ park: parked('tea') }, { park: parked('cake') }])
    const view = watch(taskId)
    await view.shows(/why +tea/)
    await killServer()
    await view.shows(/connection lost/)
    server = await serve(port)
    await client().resume(taskId)
    await view.shows(/why +cake/)
    view.type('\u0003')
    expect(await view.ended).toBe(130)
    expect(view.screen()).toContain(`Task ${taskId} goes on.`)
    expect(rowsWith(view.screen(), /^ {2}wakes /)).toEqual([])
    expect((await client().cancel(taskId)).state).toBe('canceled')
  })
})

describe('all open tasks', () => {
  it('are a table in a terminal that follows them across a restart', async () => {
    const [one, two] = [await started([{ park: parked('one') }]), await started([{ ask: 'two?' }])]
    const view = watch()
    await view.shows(/2 open tasks/)
    await view.shows(
      new RegExp(`${one.slice(-8)} +paused-by-agent +\\d+ \\w+ +script +turn \\d +in \\d+ (h|min)`),
    )
    await view.shows(new RegExp(`${two.slice(-8)} +input-required.*two\\?`))
    await client().cancel(one)
    await view.shows(/1 open task\b/)
    await view.hides(new RegExp(one.slice(-8)))

    await killServer()
    await view.shows(/not live for/)
    server = await serve(port)
    await view.hides(/not live for/)
    await client().cancel(two)
    await view.shows(/No task is open/)
    view.type('\u0003')
    expect(await view.ended).toBe(130)
    expect(view.screen()).toContain('The tasks go on.')
  })

  it('are a line for each change where there is no terminal', async () => {
    const before = await started([{ ask: 'before?' }])
    const view = lull(['tasks', 'watch', '--url', server.url])
    piped.push(view)
    await view.said(new RegExp(`^${before} {2}input-required {2}script {2}Asks: before\\?$`))
    // The feed is open when a task that starts afterwards is seen.
    const after = await started([{ park: parked('tea') }])
    await view.said(new RegExp(`^${after} {2}paused-by-agent {2}script {2}Parked: tea`))
    await client().cancel(before)
    await view.said(new RegExp(`^${before} {2}canceled`))
    await client().cancel(after)
    await view.said(new RegExp(`^${after} {2}canceled`))
    view.signal('SIGINT')
    const { code, out } = await view.ended
    expect(code).toBe(130)
    expect(out).not.toContain('\u001b')
  })
})
