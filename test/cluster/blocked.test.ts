/** Agent code that holds the event loop of a process for longer than a lease: C10 and C11, with the real guard thread. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import {
  type PostgresServer,
  startPostgres,
} from '../../src/stores/postgres/test-support/server.ts'

const program = fileURLToPath(new URL('./blocking-process.mjs', import.meta.url))
let database: PostgresServer
let home: string
const children: ChildProcess[] = []

beforeAll(async () => {
  database = await startPostgres()
  home = mkdtempSync(join(tmpdir(), 'lull-blocked-'))
})

afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // Its code may hold the loop, so it cannot end in order.
    child.kill('SIGKILL')
    await ended
  }
})

afterAll(async () => {
  await database.remove()
  rmSync(home, { recursive: true, force: true })
})

interface Process {
  readonly pid: number
  send(agent: string, text: string): Promise<string>
  get(taskId: string): Promise<Task>
  worker(): Promise<string>
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

async function start(blockedAfterMs: number): Promise<Process> {
  const env = {
    ...process.env,
    LULL_POSTGRES: database.url,
    LULL_EFFECTS: join(home, 'effects'),
    LULL_RELEASE: join(home, 'release'),
  }
  const child = fork(program, [`${blockedAfterMs}`], { env })
  children.push(child)
  const waiting = new Map<number, (answer: Answer) => void>()
  let calls = 0
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer))
  const answerTo = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error)),
      )
    })
  const call = (name: string, params: object = {}): Promise<unknown> => {
    const id = ++calls
    const answer = answerTo(id)
    child.send({ id, name, params })
    return answer
  }
  await answerTo(0)
  return {
    pid: child.pid ?? 0,
    send: (agent, text) => call('send', { agent, text }) as Promise<string>,
    get: (taskId) => call('get', { taskId }) as Promise<Task>,
    worker: () => call('worker') as Promise<string>,
  }
}

const effects = (): readonly string[] => {
  const file = join(home, 'effects')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

it('C10: code that holds the loop for two leases loses nothing', async () => {
  const first = await start(60_000)
  const other = await start(60_000)
  const worker = await first.worker()
  const taskId = await first.send('blocking', '4000')
  await expect.poll(async () => (await other.get(taskId)).state).toBe('completed')
  expect(effects()).toEqual([`hold ${first.pid}`, `after ${first.pid}`])
  expect(await first.worker()).toBe(worker)
  expect((await other.get(taskId)).deaths).toBe(0)
})

it('C11: a task that holds the loop for good is stopped at the second death, and others go on elsewhere', async () => {
  const first = await start(3_000)
  const second = await start(3_000)
  const beside = await first.send('beside', 'x')
  await expect.poll(effects).toContain(`wait ${first.pid}`)
  const taskId = await first.send('blocking', '600000')
  await expect.poll(effects).toContain(`hold ${second.pid}`)
  // It starts when the second process is blocked, so it has not run the task.
  const third = await start(3_000)
  await expect.poll(async () => (await third.get(taskId)).state).toBe('paused-by-client')
  expect((await third.get(taskId)).suspension).toMatchObject({
    reason: 'blocked-process',
    actor: { kind: 'policy', id: 'blocked-process' },
  })
  expect(effects().filter((line) => line.startsWith('hold'))).toHaveLength(3)
  writeFileSync(join(home, 'release'), '')
  await expect.poll(async () => (await third.get(beside)).state).toBe('completed')
})
