/** Schedules, deadlines and events of a real server, before and after it was killed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { emitEvent } from '../../src/client/server-calls.ts'
import type { Json } from '../../src/core/values/json.ts'
import type { ResumeConditions } from '../../src/core/waiting/conditions.ts'
import { type LullProcess, serving } from './lull-process.ts'

let directory: string
let processes: LullProcess[]
let server: LullProcess & { readonly url: string }
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-waiting-'))
  processes = []
  await start()
})
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await Promise.all(processes.map(({ ended }) => ended))
  rmSync(directory, { recursive: true })
})

async function start(): Promise<void> {
  server = await serving(['serve', '--script', '--port', '0', '--data', join(directory, 'data')])
  processes.push(server)
}

async function kill(): Promise<void> {
  server.signal('SIGKILL')
  await server.ended
}

/** A task that parks on these conditions and then tells what woke it. */
async function parkedOn(conditions: ResumeConditions): Promise<string> {
  const script = [{ park: { reason: 'waiting', conditions } }, { echo: 'wake' }]
  const parts = [{ data: { script } as unknown as Json }]
  const sent = await createClient({ url: server.url }).send(parts, { returnImmediately: true })
  if (sent.kind !== 'task') throw new Error('a script is a task')
  return sent.task.id
}

interface Waiting {
  readonly taskId: string
  readonly dueAt?: string
}

async function waiting(): Promise<readonly Waiting[]> {
  const response = await fetch(`${server.url}/ops/waiting?state=paused-by-agent`)
  return ((await response.json()) as { tasks: readonly Waiting[] }).tasks
}

const parked = async (taskId: string): Promise<Waiting> => {
  const find = async () => (await waiting()).find((task) => task.taskId === taskId)
  await expect.poll(find).toBeDefined()
  return (await find()) ?? { taskId }
}

async function wakeOf(taskId: string): Promise<unknown> {
  const { artifacts } = await createClient({ url: server.url }).waitFor(taskId, 'completed')
  const [part] = artifacts[0]?.parts ?? []
  return part !== undefined && 'data' in part ? part.data : undefined
}

it('goes on when its schedule fires, in the zone it names', async () => {
  const schedule = { cron: '* * * * * *', timezone: 'Europe/Helsinki' }
  const taskId = await parkedOn({ trigger: { schedule } })
  const wake = { cause: 'condition_fired', event: { type: 'lull.schedule', source: 'lull' } }
  expect(await wakeOf(taskId)).toMatchObject(wake)
})

it('keeps what it waits for when the server is killed; what fell due meanwhile fires at the next start', async () => {
  const soon = { durationMinutes: 0.01, onTimeout: 'resume_with_input', input: 'late' } as const
  const timed = await parkedOn({ onEvent: 'never', timeout: soon })
  // On a slow machine it may fall due before the server is killed.
  const state = async () => (await createClient({ url: server.url }).get(timed)).state
  await expect.poll(state).toMatch(/paused-by-agent|completed/)
  const dueAt = Date.now() + soon.durationMinutes * 60_000
  const far = await parkedOn({ onEvent: 'ci.done:7', timeout: { durationMinutes: 60 } })
  const before = await parked(far)
  await kill()
  await expect.poll(() => Date.now()).toBeGreaterThan(dueAt)

  await start()
  expect(await wakeOf(timed)).toMatchObject({ cause: 'timeout', input: 'late' })
  expect(await waiting()).toEqual([before])
  const event = { id: '1', source: 'ci', type: 'ci.done', subject: '7', data: { ok: true } }
  await emitEvent(server.url, event)
  expect(await wakeOf(far)).toMatchObject({ cause: 'condition_fired', event })
  expect(await waiting()).toEqual([])
})
