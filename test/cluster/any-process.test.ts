/** Any process answers any request, whichever process runs the task. The clocks of the processes differ by two minutes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk from '@agentclientprotocol/sdk'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import {
  type PostgresServer,
  startPostgres,
} from '../../src/stores/postgres/test-support/server.ts'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { parseEffect } from '../crash/effects-file.ts'
import type { Loose } from '../crash/storm/wire.ts'
import { type Calls, createCalls, pass } from './calls.ts'
import { effectsIn, type Processes, startProcesses } from './processes.ts'
import { type Frame, readSome } from './reader.ts'

const MINUTE_MS = 60_000
let home: string
let database: PostgresServer
let processes: Processes
let calls: Calls

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lull-fleet-'))
  database = await startPostgres()
  const skews = [MINUTE_MS, -MINUTE_MS, 0]
  processes = await startProcesses({ home, postgres: database.url, count: 3, skews })
  calls = createCalls(processes)
})

afterAll(async () => {
  calls.close()
  await processes.end()
  await database.remove()
  rmSync(home, { recursive: true, force: true })
})

async function ask(slot: number, method: string, params: object): Promise<Loose> {
  const outcome = await calls.rpc(slot, method, params)
  if (outcome.kind === 'done') return outcome.result
  throw new Error(`${method}: ${JSON.stringify(outcome)}`)
}

let messages = 0

async function send(
  slot: number,
  script: readonly ScriptOp[],
  configuration: object = { returnImmediately: true },
): Promise<Loose> {
  const messageId = `fleet-${++messages}`
  const message = { messageId, role: 'ROLE_USER', parts: [{ data: { script } }] }
  return (await ask(slot, 'SendMessage', { message, configuration })).task
}

const stateOf = async (slot: number, id: string): Promise<string> =>
  (await ask(slot, 'GetTask', { id, historyLength: 0 })).status.state

async function until(slot: number, id: string, state: string): Promise<void> {
  while ((await stateOf(slot, id)) !== state) await pass(50)
}

const begins = () =>
  readFileSync(effectsIn(home), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(parseEffect)
    .filter(({ kind }) => kind === 'begin')
    .map(({ at, pid, ...rest }) => ({ ...rest, pid, at: processes.realTime(pid, at) }))

it('a hold is complete in all of them while all of them create tasks', async () => {
  const created: string[] = []
  let over = false
  const creators = [0, 1, 2].map(async (slot) => {
    const steps = Array.from({ length: 12 }, () => ({ step: 'work', ms: 20 }))
    while (!over) {
      created.push((await send(slot, [...steps, { complete: 'done' }])).id)
      await pass(20)
    }
  })
  while (created.length < 12) await pass(20)
  const body = JSON.stringify({ scope: { all: true }, reason: 'stop', holdNew: true })
  const headers = { 'content-type': 'application/json' }
  const holds = `${processes.url(1)}/ops/holds`
  const { holdId } = (await (await fetch(holds, { method: 'POST', body, headers })).json()) as Loose
  const answeredAt = Date.now()
  const before = created.length
  while (created.length < before + 6) await pass(20)
  over = true
  await Promise.all(creators)
  // Longer than any process needs to hear of the hold by itself.
  await pass(1_000)
  expect(begins().filter(({ at }) => at > answeredAt)).toEqual([])
  await fetch(`${processes.url(2)}/ops/holds/${holdId}`, { method: 'DELETE' })
  for (const [n, id] of created.entries()) await until(n % 3, id, 'TASK_STATE_COMPLETED')
})

it('the text that a step streams is read from another process at once, and on from a third', async () => {
  const text = Array.from({ length: 20 }, (_, n) => `word-${n} `).join('')
  const talk = { step: 'talk', ms: 2_000, stream: text, chunks: 20 }
  const { id } = await send(0, [talk, { complete: 'done' }])
  const frames: Frame[] = []
  let read = ''
  const fold = ({ data }: Frame): void => {
    const { artifact, append } = data.artifactUpdate ?? {}
    // What the agent returns is an artifact too.
    if (artifact === undefined || artifact.name === 'result') return
    read = (append ? read : '') + artifact.parts[0].text
  }
  for (let slot = 1; !(await ended(frames)); slot = slot === 1 ? 2 : 1) {
    const from = frames.length
    await readSome(processes.url(slot), id, frames, 6)
    frames.slice(from).forEach(fold)
    expect(text.startsWith(read)).toBe(true)
  }
  const chunks = frames.filter(({ data }) => data.artifactUpdate !== undefined)
  expect(chunks.length).toBeGreaterThan(5)
  expect(read).toBe(text)
})

async function ended(frames: readonly Frame[]): Promise<boolean> {
  return frames.some(({ data }) => data.statusUpdate?.status.state === 'TASK_STATE_COMPLETED')
}

it('a send waits in one process for a task that another one runs', async () => {
  const { id } = await send(0, [
    { ask: 'Which one?' },
    { step: 'work', ms: 300 },
    { complete: 'y' },
  ])
  await until(1, id, 'TASK_STATE_INPUT_REQUIRED')
  const messageId = `fleet-${++messages}`
  const message = { messageId, taskId: id, role: 'ROLE_USER', parts: [{ text: 'this' }] }
  const { task } = await ask(1, 'SendMessage', { message })
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
})

it('a webhook made in one process gets every update once, whichever process runs the task', async () => {
  const told: string[] = []
  const hook = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      told.push(body)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    hook.close()
  })
  const { id } = await send(0, [{ ask: 'Which one?' }, { complete: 'done' }])
  await until(2, id, 'TASK_STATE_INPUT_REQUIRED')
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  await ask(1, 'CreateTaskPushNotificationConfig', { taskId: id, url, id: 'hook' })
  const messageId = `fleet-${++messages}`
  const message = { messageId, taskId: id, role: 'ROLE_USER', parts: [{ text: 'this' }] }
  await ask(2, 'SendMessage', { message })
  while (!told.some((body) => body.includes('TASK_STATE_COMPLETED'))) await pass(50)
  await pass(500)
  expect(told.filter((body) => body.includes('TASK_STATE_COMPLETED'))).toHaveLength(1)
  expect(new Set(told).size).toBe(told.length)
})

it('one of many resumes in different processes wins', async () => {
  const { id } = await send(0, [{ park: { reason: 'wait' } }, { complete: 'done' }])
  while (!(await stateOf(1, id)).includes('WORKING')) await pass(20)
  const task = async (): Promise<Loose> =>
    (await ask(1, 'GetTask', { id })).metadata?.['urn:lull:a2a:task-control:1']
  while ((await task())?.state !== 'paused-by-agent') await pass(20)
  const { handle } = await task()
  const races = Array.from({ length: 9 }, (_, n) =>
    calls.rpc(n % 3, 'tasks/resume', { taskId: id, handle, metadata: { idempotencyKey: `k${n}` } }),
  )
  const outcomes = await Promise.all(races)
  expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(1)
  await until(2, id, 'TASK_STATE_COMPLETED')
})

/** An editor that is connected to one process. */
function editorAt(slot: number) {
  const words: string[] = []
  const url = `${processes.url(slot).replace('http', 'ws')}/acp`
  const connection = sdk
    .client()
    .onNotification('session/update', ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
        words.push(update.content.text)
      }
    })
    .connect(createWebSocketStream(url, { WebSocket: WebSocket as never }))
  onTestFinished(async () => {
    connection.close()
    await connection.closed
  })
  return { words, agent: connection.agent }
}

it('a session goes on in an editor that is connected to another process', async () => {
  const first = editorAt(0)
  await first.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await first.agent.request('session/new', { cwd: '/', mcpServers: [] })
  const ops = [{ say: 'one' }, { step: 'long', ms: 1_000 }, { say: 'two' }, { complete: 'three' }]
  const prompt = [{ type: 'text' as const, text: JSON.stringify({ script: ops }) }]
  const turn = first.agent.request('session/prompt', { sessionId, prompt })
  await expect.poll(() => first.words).toEqual(['one'])
  const second = editorAt(1)
  await second.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  await second.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
  expect(await turn).toMatchObject({ stopReason: 'end_turn' })
  await expect.poll(() => second.words).toEqual(first.words)
  expect(second.words.slice(0, 2)).toEqual(['one', 'two'])
})
