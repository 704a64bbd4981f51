/** The fixtures of the reference implementation (Harn) that take more than one process, each under its own name. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, type LullProcess, lull, serving } from './lull-process.ts'

let directory: string
let processes: LullProcess[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-suspend-'))
  processes = []
})
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await Promise.all(processes.map(({ ended }) => ended))
  rmSync(directory, { recursive: true })
})

async function start() {
  const data = join(directory, 'data')
  const server = await serving(['serve', '--script', '--port', '0', '--data', data])
  processes.push(server)
  return server
}

async function run(...args: readonly string[]): Promise<Ended> {
  const process = lull(args)
  processes.push(process)
  return process.ended
}

/** Parks after its first turn, and shows its transcript when it is woken. */
const script = JSON.stringify({
  script: [
    { turn: [{ say: 'I have a plan' }] },
    { park: { reason: 'overnight' } },
    { echo: 'transcript' },
    { complete: 'carried it out' },
  ],
})

async function parkedOn(url: string): Promise<string> {
  const sent = await run('send', url, script, '--json')
  const { task } = JSON.parse(sent.out) as { task: { id: string } }
  return task.id
}

describe('suspend_cold_restart', () => {
  it('a process that parked is killed, and the next one resumes to the end with the transcript kept', async () => {
    const first = await start()
    const taskId = await parkedOn(first.url)
    first.signal('SIGKILL')
    await first.ended

    const second = await start()
    const watch = lull(['tasks', 'watch', taskId, '--url', second.url])
    processes.push(watch)
    await watch.said(/^paused-by-agent/)
    await run('tasks', 'resume', taskId, '--url', second.url)
    const { code, out } = await watch.ended
    expect(code).toBe(0)
    expect(out).toContain('completed  carried it out')
    const shown = await run('tasks', 'show', taskId, '--url', second.url, '--json')
    expect(shown.out).toContain('I have a plan')
  })
})

describe('agent_top_level_await_resumption_cli', () => {
  it('a sender is told that the task is parked, and the command line resumes it', async () => {
    const { url } = await start()
    const sent = await run('send', url, script, '--json')
    const { task } = JSON.parse(sent.out) as { task: { id: string } }
    expect(sent.out).toContain('paused-by-agent')
    const resumed = await run('tasks', 'resume', task.id, '--url', url, '--json')
    expect(resumed.code).toBe(0)
    expect(JSON.parse(resumed.out)).toMatchObject({ previousState: 'paused-by-agent' })
    const watched = await run('tasks', 'watch', task.id, '--url', url)
    expect(watched.out).toContain('completed  carried it out')
  })
})
