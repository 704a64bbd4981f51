/** The client against a real server, in both versions and both bindings. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent } from '../engine/author/agent.ts'
import { type RunningServer, serve } from '../server/serve.ts'
import type { ScriptOp } from '../testing/script-agent/ops.ts'
import { createScriptAgent } from '../testing/script-agent/script-agent.ts'
import { type Client, connect, type SendOptions } from './client.ts'
import type { SendResult, Task, TaskFrame } from './tasks/task-types.ts'

let directory: string
let server: RunningServer
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-client-'))
  const plain = agent({
    name: 'plain',
    description: 'Can neither be paused nor reminded',
    pause: false,
    reminders: false,
    run: (task) => task.ask('And?').then(() => 'done'),
  })
  const agents = [createScriptAgent(), plain]
  server = await serve({
    agents,
    port: 0,
    data: join(directory, 'data'),
    log: () => undefined,
    quiet: true,
  })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

const parts = (...script: readonly ScriptOp[]) => [{ data: { script } as never }]

function taskOf(sent: SendResult): Task {
  if (sent.kind !== 'task') throw new Error(`a message: ${JSON.stringify(sent.message)}`)
  return sent.task
}

async function all(frames: AsyncIterable<TaskFrame>): Promise<readonly TaskFrame[]> {
  const seen: TaskFrame[] = []
  for await (const frame of frames) seen.push(frame)
  return seen
}

const ticking: ScriptOp = { repeat: 1_000, ops: [{ step: 'tick', ms: 5 }] }
const parked = (conditions: object = {}): ScriptOp => ({
  park: { reason: 'ci', summary: 'Build 7', conditions },
})

describe.each([
  ['1.0', 'JSONRPC'],
  ['1.0', 'HTTP+JSON'],
  ['1.0', 'GRPC'],
  ['0.3', 'JSONRPC'],
  ['0.3', 'HTTP+JSON'],
] as const)('A2A %s over %s', (version, binding) => {
  let client: Client
  beforeAll(async () => {
    client = await connect(server.url, { version, binding })
  })

  const start = async (...script: readonly ScriptOp[]): Promise<Task> =>
    taskOf(await client.send(parts(...script), { returnImmediately: true }))

  it('speaks what it was asked to', () => {
    expect([client.version, client.binding]).toEqual([version, binding])
  })

  it('sends, and gets a message or a task with what it made', async () => {
    const reply = await client.send(parts({ reply: 'hi' }))
    expect(reply).toMatchObject({ kind: 'message', message: { role: 'ROLE_AGENT' } })
    const data = { data: { n: 1 } }
    const artifacts: ScriptOp[] = [
      { artifact: { name: 't', text: 'text' } },
      { artifact: { name: 'd', data: data.data } },
      { artifact: { name: 'b', base64: 'AAEC', mediaType: 'image/png' } },
      { artifact: { name: 'u', url: 'https://example.com/x' } },
    ]
    const options: SendOptions = { contextId: `c-${version}-${binding}` }
    const task = taskOf(await client.send(parts(...artifacts, { complete: 'done' }), options))
    expect(task).toMatchObject({ state: 'completed', contextId: options.contextId })
    expect(task.status.message?.parts).toEqual([{ text: 'done' }])
    expect(task.artifacts.map((one) => one.parts[0])).toMatchObject([
      { text: 'text' },
      data,
      { raw: 'AAEC', mediaType: 'image/png' },
      { url: 'https://example.com/x' },
      // In 1.0 the result is also an artifact.
      ...(version === '1.0' ? [{ text: 'done' }] : []),
    ])
    expect(await client.get(task.id)).toEqual(task)
    expect((await client.get(task.id, { historyLength: 0 })).history).toEqual([])
  })

  it('streams frames of every kind, each with its cursor', async () => {
    const frames = await all(
      client.stream(
        parts(
          { say: 'on my way' },
          { artifact: { name: 'a', text: 'abcd', chunks: 2 } },
          { complete: 'there' },
        ),
      ),
    )
    const [first] = frames
    expect(first?.kind).toBe('task')
    expect(new Set(frames.map(({ kind }) => kind))).toEqual(new Set(['task', 'status', 'artifact']))
    expect(new Set(frames.map(({ cursor }) => cursor)).size).toBe(frames.length)
    expect(frames.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    const chunks = frames.filter((frame) => frame.kind === 'artifact')
    expect(chunks.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
      [false, false],
      [true, true],
      ...(version === '1.0' ? [[false, true]] : []),
    ])
  })

  it('cancels', async () => {
    const { id } = await start(parked())
    expect((await client.cancel(id)).state).toBe('canceled')
    const done = taskOf(await client.send(parts({ complete: 'done' })))
    await expect(client.cancel(done.id)).rejects.toMatchObject({
      kind: 'refused',
      reason: 'TASK_NOT_CANCELABLE',
      code: binding !== 'JSONRPC' && version === '1.0' ? undefined : -32002,
    })
  })

  it('pauses, shows the stop, and resumes with input', async () => {
    const { id } = await start(ticking)
    const conditions = { onEvent: 'never', timeout: { durationMinutes: 60 } }
    const paused = await client.pause(id, { reason: 'lunch', mode: 'finish_step', conditions })
    if (paused.outcome !== 'paused') throw new Error(paused.outcome)
    expect(paused).toMatchObject({ state: 'paused-by-client', reason: 'lunch', conditions })
    const task = await client.get(id)
    expect(task.state).toBe('paused-by-client')
    expect(task.suspension).toMatchObject({
      handle: paused.handle,
      pausing: false,
      initiator: 'client',
      reason: 'lunch',
      conditions,
      pausedAt: paused.pausedAt,
      deadlineAt: paused.deadlineAt,
    })
    const resumed = await client.resume(id, { handle: paused.handle, input: { go: true } })
    expect(resumed).toMatchObject({
      taskId: id,
      previousState: 'paused-by-client',
      cause: 'explicit_resume',
      hadResumeInput: true,
      continueTranscript: true,
    })
    const { state, resumption, suspension } = await client.get(id)
    expect([state, suspension]).toEqual(['working', undefined])
    expect(resumption).toMatchObject({ cause: 'explicit_resume', resumedAt: resumed.resumedAt })
    await expect(client.resume(id)).rejects.toMatchObject({
      reason: 'TASK_NOT_PAUSED',
      details: { state: 'working' },
    })
    await client.cancel(id)
  })

  it('says when a pause has not come to its boundary yet', async () => {
    const { id } = await start({ step: 'long', ms: 60_000, stubborn: true })
    await client.waitFor(id, 'working')
    const pausing = await client.pause(id, { graceMs: 0, reason: 'x' })
    expect(pausing).toMatchObject({ outcome: 'pausing', state: 'working', reason: 'x' })
    expect((await client.get(id)).suspension?.pausing).toBe(true)
    await client.cancel(id)
  })

  it('reads what a parked task waits for, and waits for it to go on', async () => {
    const { id } = await start(parked({ onEvent: 'never' }), { complete: 'woken' })
    const { suspension } = await client.waitFor(id, 'paused-by-agent')
    expect(suspension).toMatchObject({
      initiator: 'agent',
      reason: 'ci',
      summary: 'Build 7',
      conditions: { onEvent: 'never' },
    })
    const over = client.waitFor(id, ({ resumption }) => resumption?.cause === 'explicit_resume')
    await client.resume(id, { handle: suspension?.handle })
    expect((await over).resumption?.previousState).toBe('paused-by-agent')
    const ended = client.waitFor(id, 'input-required')
    await expect(ended).rejects.toMatchObject({ reason: 'TASK_TERMINAL' })
  })

  it('parks a task on its worker’s behalf', async () => {
    const { id } = await start(ticking)
    await client.waitFor(id, 'working')
    const answer = await client.awaitResumption(id, { reason: 'ci', summary: 'Build 8' })
    expect(answer).toMatchObject({ outcome: 'paused', state: 'paused-by-agent' })
    expect((await client.get(id)).suspension).toMatchObject({ summary: 'Build 8' })
    await client.cancel(id)
  })

  it('reminds, lists and clears', async () => {
    const { id } = await start(parked(), { turn: [{ echo: 'reminders' }] }, { complete: '' })
    await client.waitFor(id, 'paused-by-agent')
    const first = await client.remind(id, { body: 'old', dedupeKey: 'k', tags: ['t'] })
    expect(first).toMatchObject({ outcome: 'accepted', dedupedCount: 0 })
    const second = await client.remind(
      id,
      { body: 'rebase', dedupeKey: 'k', ttlTurns: 1 },
      { metadata: { origin: 'test' } },
    )
    expect(second).toMatchObject({ outcome: 'accepted', dedupedCount: 1 })
    await client.remind(id, 'never mind')
    const pending = await client.reminders(id)
    expect(pending.map(({ body }) => body)).toEqual(['rebase', 'never mind'])
    expect(pending[0]).toMatchObject({ ttlTurns: 1, propagate: 'session', roleHint: 'system' })
    const { id: which } = pending[1] ?? { id: '' }
    expect(await client.clearReminders(id, { id: which })).toEqual({ clearedCount: 1 })

    const watching = all(client.watch(id))
    await client.resume(id)
    const changes = (await watching).flatMap((one) => (one.kind === 'reminder' ? [one.change] : []))
    const told = changes.map((one) => (one.event === 'emitted' ? one.reminder.body : one.event))
    // The continuity reminder of the resume is one of them.
    expect(told.filter((one) => one === 'rebase')).toHaveLength(1)
    expect(changes).toContainEqual(expect.objectContaining({ event: 'expired', reason: 'ttl' }))
    const shown = changes.find((one) => one.event === 'emitted' && one.reminder.body === 'rebase')
    expect(shown).toMatchObject({ reminder: { metadata: { origin: 'test' }, firedAtTurn: 1 } })
  })

  it('answers questions of input and of authorisation', async () => {
    const { id } = await start({ ask: 'Which?' }, { auth: 'Sign in' }, { complete: 'ok' })
    expect((await client.waitFor(id, 'input-required')).status.message?.parts).toMatchObject([
      { text: 'Which?' },
    ])
    await client.answer(id, 'this one')
    await client.waitFor(id, 'auth-required')
    expect(taskOf(await client.answer(id, [{ data: { token: 't' } }])).state).toBe('completed')
    await expect(client.answer(id, 'too late')).rejects.toMatchObject({
      reason: 'NOT_WAITING',
      details: { state: 'completed' },
    })
  })

  it.each(['granted', 'denied'] as const)('has consent %s by its id', async (decision) => {
    const operation = { book: 'flight' }
    const { id } = await start({ consent: { prompt: 'Book?', operation } }, { complete: 'booked' })
    const { consent } = await client.waitFor(id, 'user-consent-required')
    expect(consent).toMatchObject({ prompt: 'Book?', operation })
    const wrong = client.answer(id, { consent: decision, consentId: 'consent-other' })
    await expect(wrong).rejects.toMatchObject({ kind: 'refused' })
    const sent = await client.answer(id, { consent: decision })
    expect(taskOf(sent).state).toBe(decision === 'granted' ? 'completed' : 'rejected')
  })

  it('sends a message once, however often it is sent', async () => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: parts() } as const
    const [once, again] = [await client.send(message), await client.send(message)]
    expect(taskOf(again).id).toBe(taskOf(once).id)
    const key = crypto.randomUUID()
    const keyed = taskOf(await client.send('x', { idempotencyKey: key }))
    await expect(client.send('y', { idempotencyKey: key })).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_KEY_REUSED',
    })
    expect(keyed.state).toBe('completed')
  })

  it('says what is wrong with a request, and where', async () => {
    const { id } = await start(ticking)
    const conditions = { timeout: { durationMinutes: -1 } }
    await expect(client.pause(id, { conditions })).rejects.toMatchObject({
      kind: 'refused',
      reason: 'INVALID_PARAMS',
      path: 'conditions.timeout.durationMinutes',
    })
    await expect(client.pause('nope')).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
    await expect(client.get('nope')).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
    await expect(all(client.watch('nope'))).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
    await client.cancel(id)
  })

  it('is let go of by a signal, at any time', async () => {
    const { id } = await start(parked())
    await client.waitFor(id, 'paused-by-agent')
    const abort = new AbortController()
    const watching = client.watch(id, { signal: abort.signal })
    await watching.next()
    const next = watching.next()
    abort.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
    await expect(client.get(id, { signal: abort.signal })).rejects.toThrow('enough')
    expect((await client.cancel(id)).state).toBe('canceled')
  })

  it('continues a watch after any of its frames', async () => {
    const script: readonly ScriptOp[] = [{ say: 'a' }, { say: 'b' }, { complete: 'c' }]
    const whole = await all(client.stream(parts(...script)))
    const [first] = whole
    const id = first?.kind === 'task' ? first.task.id : ''
    for (const [index, { cursor }] of whole.slice(0, -1).entries()) {
      expect(await all(client.watch(id, { after: cursor }))).toEqual(whole.slice(index + 1))
    }
  })

  describe('with an agent that offers neither pause nor reminders', () => {
    let other: Client
    beforeAll(async () => {
      other = await connect(server.url, { version, binding, agent: 'plain' })
    })

    it('knows it from the card', async () => {
      expect(await other.capabilities()).toMatchObject({
        streaming: true,
        pause: false,
        conditions: false,
        reminders: { inject: false },
      })
      expect(await client.capabilities()).toMatchObject({
        pause: true,
        awaitResumption: true,
        conditions: true,
        consent: true,
        reminders: { inject: true, emit: true },
      })
    })

    it('does not pause, and says so', async () => {
      const { id } = taskOf(await other.send('x'))
      await expect(other.pause(id)).rejects.toMatchObject({
        kind: 'unsupported',
        reason: 'NOT_SUPPORTED',
      })
      expect((await other.cancel(id)).state).toBe('canceled')
    })

    it('is let go of and found again at the frame where the reading ended', async () => {
      const { id } = taskOf(await other.send('x'))
      const watching = other.watch(id)
      const { value: first } = await watching.next()
      const rest = all(watching)
      const outcome = await other.pause(id, { fallback: 'detach' })
      if (outcome.outcome !== 'detached') throw new Error(outcome.outcome)
      expect(await rest).toEqual([])
      expect(outcome.after).toBe(first?.cursor)

      const again = all(outcome.reconnect())
      await other.answer(id, 'go on')
      const frames = await again
      expect(frames.map(({ kind }) => kind)).not.toContain('task')
      expect(frames.at(-1)).toMatchObject({ state: 'completed' })
    })

    it('is told nothing, or told later, as the caller chose', async () => {
      const { id } = taskOf(await other.send('x'))
      const suppressed = await other.remind(id, 'x', { fallback: 'suppress' })
      expect(suppressed.outcome).toBe('suppressed')
      await expect(other.remind(id, 'x')).rejects.toMatchObject({ kind: 'unsupported' })
      await other.cancel(id)
    })
  })
})

describe('lists', () => {
  it('tells states apart that look alike on the wire', async () => {
    const client = await connect(server.url)
    const contextId = crypto.randomUUID()
    const options = { contextId, returnImmediately: true }
    const stopped = taskOf(await client.send(parts(parked()), options))
    const running = taskOf(await client.send(parts(ticking), options))
    await client.waitFor(stopped.id, 'paused-by-agent')
    await client.waitFor(running.id, 'working')
    const ids = async (state?: 'working' | 'paused-by-agent') =>
      (await client.list({ contextId, state })).tasks.map(({ id }) => id)
    expect(await ids('paused-by-agent')).toEqual([stopped.id])
    expect(await ids('working')).toEqual([running.id])
    expect(await ids()).toHaveLength(2)
    const first = await client.list({ contextId, pageSize: 1 })
    const { tasks } = await client.list({ contextId, pageToken: first.nextPageToken })
    expect([...first.tasks, ...tasks].map(({ id }) => id).sort()).toEqual(
      [stopped.id, running.id].sort(),
    )
    await client.cancel(stopped.id)
    await client.cancel(running.id)
  })

  it('are not there over JSON-RPC in 0.3', async () => {
    const client = await connect(server.url, { version: '0.3', binding: 'JSONRPC' })
    await expect(client.list()).rejects.toMatchObject({ kind: 'unsupported' })
  })
})
