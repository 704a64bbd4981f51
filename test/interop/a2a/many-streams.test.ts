/** Two thousand readers on real sockets: what one costs, and that one who does not read costs the others nothing. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Agent, agent } from '../../../src/engine/author/agent.ts'
import { type RunningServer, serve } from '../../../src/server/serve.ts'
import { eventually } from './harness.ts'

const STREAMS = 2_000
const TASKS = 20
const KB = 1_024
const HEAP_PER_STREAM = 64 * KB
/** More than a connection holds between a writer and a reader that does not read. */
const NOISE = { frames: 16, bytes: 1_024 * KB }
/** Readers of the noisy task, besides the slow one; each is sent all of it. */
const NOISY_READERS = 5

/** Waits for a word; told to be noisy, it writes more than fits on the way. */
const talker: Agent = agent({
  name: 'talker',
  description: 'Waits for a word, then talks',
  run: async (task) => {
    const { text } = await task.ask('Go on?')
    for (let n = 0; text === 'noisy' && n < NOISE.frames; n++) {
      await task.artifact({ artifactId: 'noise', text: `${n}`.padEnd(NOISE.bytes, '.') })
    }
    return 'done'
  },
})

let directory: string
let serving: RunningServer
let readers: ChildProcess
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-streams-'))
  serving = await serve({
    agents: [talker],
    port: 0,
    data: directory,
    log: () => undefined,
    quiet: true,
  })
  readers = fork(new URL('readers.mjs', import.meta.url), { execArgv: [] })
})
afterEach(async () => {
  readers.kill()
  await serving.close()
  rmSync(directory, { recursive: true })
})

/** What the readers say next. */
function heard<T>(): Promise<T> {
  return new Promise((resolve, reject) => {
    readers.once('message', (said) => resolve(said as T))
    readers.once('exit', (code) => reject(new Error(`the readers ended with ${code}`)))
  })
}

let messages = 0

/** Returns when the task asks (the first message) or at once. */
async function say(text: string, taskId?: string): Promise<string> {
  const message = {
    messageId: `m-${++messages}`,
    role: 'ROLE_USER',
    parts: [{ text }],
    ...(taskId === undefined ? {} : { taskId }),
  }
  const configuration = { returnImmediately: taskId !== undefined }
  const params = { message, configuration }
  const response = await fetch(serving.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
  })
  const { result } = (await response.json()) as { result: { task: { id: string } } }
  return result.task.id
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function memory(): { readonly heap: number; readonly buffers: number } {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return { heap: heapUsed, buffers: arrayBuffers }
}

it('serves 2,000 streams in bounded memory, and a slow reader delays nobody', async () => {
  const ids = await Promise.all(Array.from({ length: TASKS }, () => say('hello')))
  const [noisy = '', ...quiet] = ids
  const each = Math.floor((STREAMS - 1 - NOISY_READERS) / quiet.length)
  const left = STREAMS - 1 - NOISY_READERS - each * quiet.length
  const tasks = [
    { id: noisy, readers: NOISY_READERS },
    ...quiet.map((id, n) => ({ id, readers: each + (n < left ? 1 : 0) })),
  ]
  const before = memory()
  const opening = heard<{ opened: number }>()
  readers.send({ url: serving.url, tasks, slowTask: noisy })
  expect(await opening).toEqual({ opened: STREAMS })
  const open = memory()
  expect((open.heap - before.heap) / STREAMS).toBeLessThan(HEAP_PER_STREAM)

  const ending = heard<{ ended: number; fast: string[]; slow: string[]; slowEnded: boolean }>()
  await Promise.all([say('noisy', noisy), ...quiet.map((id) => say('go', id))])
  const { ended, fast, slow, slowEnded } = await ending
  expect(ended).toBe(STREAMS - 1)
  expect(slowEnded).toBe(false)
  expect(fast.length).toBeGreaterThan(NOISE.frames)
  expect(slow.length).toBeLessThan(fast.length)
  // What the slow one has not read waits in the log, not in memory. Buffers the others are done with go a little later.
  const bound = (NOISE.frames * NOISE.bytes) / 4
  await eventually(() => memory().buffers - open.buffers < bound)

  const rest = heard<{ rest: string[]; state: string }>()
  readers.send('continue')
  const back = await rest
  expect(back.state).toBe('TASK_STATE_COMPLETED')
  expect([...slow, ...back.rest]).toEqual(fast)
})
