/**
 * A real server speaks as `spec/protocol-artifacts` says: everything it sends and takes over every version and binding is
 * recorded and validated by the published schemas. At the end each schema has been used.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type Client,
  connect,
  type Part,
  type StreamState,
  type Task,
} from '../../../src/client/index.ts'
import { agent } from '../../../src/engine/author/agent.ts'
import { type Signal, signal } from '../../../src/engine/test-support/engine-harness.ts'
import { type RunningServer, serve } from '../../../src/server/serve.ts'
import { createScriptAgent } from '../../../src/testing/script-agent/script-agent.ts'
import { extensions, judge, judgeExchange, recording, used } from './published-shapes.ts'

/** What the reader of the stream has been told of it. The streaming agent waits for these. */
let told: Record<StreamState, Signal>

/** Streams inside a step. The first attempt fails after a reader saw its text, so that text is discarded. */
const streaming = agent({
  name: 'streaming',
  description: 'Streams inside a step and fails once',
  run: (task) =>
    task.step(
      'talk',
      async (step) => {
        if (step.attempt > 1) await told.discarded.promise
        step.stream('talk').write(`attempt ${step.attempt}`)
        if (step.attempt > 1) return
        await told.open.promise
        throw new Error('the first attempt fails')
      },
      { retry: { attempts: 1, backoffMs: 0 } },
    ),
})

async function readStream(client: Client): Promise<void> {
  told = { open: signal(), recorded: signal(), discarded: signal() }
  for await (const frame of client.stream('go')) {
    if (frame.kind === 'artifact' && frame.stream !== undefined) told[frame.stream].fire()
  }
  await told.recorded.promise
}

let directory: string
let server: RunningServer
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-artifacts-'))
  const data = join(directory, 'data')
  const progressing = agent({
    name: 'progressing',
    description: 'Says how far it is',
    run: (task) => task.progress(0.5, 'half'),
  })
  const agents = [createScriptAgent(), progressing, streaming]
  server = await serve({ agents, port: 0, data, log: () => undefined, quiet: true })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

const script = (...ops: readonly object[]): readonly Part[] => [{ data: { script: ops } as never }]

async function tellEverything(client: Client): Promise<void> {
  const start = async (...ops: readonly object[]): Promise<string> => {
    const sent = await client.send(script(...ops), { returnImmediately: true })
    return sent.kind === 'task' ? sent.task.id : ''
  }
  const watched = async (id: string): Promise<void> => {
    for await (const _ of client.watch(id));
  }
  const refused = (call: Promise<unknown>): Promise<void> =>
    expect(call).rejects.toMatchObject({ name: 'ClientError' })

  // Pauses: committed, still on its way, repeated, with every kind of condition; and what is refused.
  const ticking = await start({ repeat: 2_000, ops: [{ step: 'tick', ms: 5 }] })
  const end = watched(ticking)
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const timeout = { durationMinutes: 1.5, onTimeout: 'resume_with_input', input: [1] } as const
  const filter = { all: [{ exact: { type: 'x' } }, { not: { suffix: { source: 'y' } } }] } as const
  for (const conditions of [
    undefined,
    { onEvent: 'never', since: 'now' as const },
    { trigger: { at }, timeout },
    { trigger: { filter } },
    { trigger: { schedule: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' } } },
  ]) {
    const paused = await client.pause(ticking, { reason: 'lunch', mode: 'finish_step', conditions })
    await client.pause(ticking)
    if (paused.outcome !== 'paused') throw new Error(paused.outcome)
    await refused(client.resume(ticking, { handle: 'suspend-other' }))
    await client.resume(ticking, { handle: paused.handle, input: null, continueTranscript: false })
  }
  await refused(client.resume(ticking))
  await refused(client.pause(ticking, { mode: 'gently' as never }))
  await refused(client.pause('no-such-task'))
  await client.awaitResumption(ticking, { reason: 'ci', summary: 'Build', conditions: { timeout } })
  await refused(client.pause(ticking))
  await client.get(ticking)
  await client.cancel(ticking)
  await refused(client.remind(ticking, 'too late'))
  await end
  const stubborn = await start({ step: 'long', ms: 60_000, stubborn: true })
  await client.waitFor(stubborn, 'working')
  await client.pause(stubborn, { graceMs: 0, reason: 'now', mode: 'interrupt_immediate' })
  await client.get(stubborn)
  await client.cancel(stubborn)

  // A park that an event ends, and every fate of a reminder.
  const parked = await start(
    { park: { reason: 'ci', summary: 'Build 7', conditions: { onEvent: `go:${ticking}` } } },
    { turn: [{ echo: 'reminders' }] },
    { complete: 'done' },
  )
  const over = watched(parked)
  await client.waitFor(parked, 'paused-by-agent')
  const reminder = { body: 'rebase', dedupeKey: 'k', tags: ['a'], source: 's', firedAtTurn: 0 }
  await client.remind(parked, reminder)
  await client.remind(parked, { ...reminder, ttlTurns: 1 }, { metadata: { origin: 'test' } })
  await client.remind(parked, { body: 'cleared', propagate: 'all', roleHint: 'developer' })
  const pending = await client.reminders(parked)
  await client.clearReminders(parked, { id: pending[1]?.id ?? '' })
  await refused(client.remind(parked, ' '))
  const event = { specversion: '1.0', id: parked, source: 'test', type: 'go', subject: ticking }
  judge('cloud-events', 'CloudEvent', event, 'events')
  const posted = await fetch(`${server.url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  })
  expect(posted.status).toBe(202)
  await over
  expect((await client.receipts(parked)).verified).toBe(true)
  const spender = await start({ usage: { inputTokens: 7, costUsd: 0.5 } }, { complete: 'done' })
  const { usage } = await client.waitFor(spender, 'completed')
  expect(usage).toEqual({ inputTokens: 7, outputTokens: 0, costUsd: 0.5 })

  // Consent, asked for, mistaken and granted.
  const asking = await start({ consent: { prompt: 'Push?', operation: { push: 'main' } } })
  const asked: Task = await client.waitFor(asking, 'user-consent-required')
  const answered = watched(asking)
  await refused(client.answer(asking, { consent: 'granted', consentId: 'consent-other' }))
  await client.answer(asking, { consent: 'granted', consentId: asked.consent?.consentId ?? '' })
  await answered
  await client.get(asking)
}

it.each([
  ['1.0', 'JSONRPC'],
  ['1.0', 'HTTP+JSON'],
  ['0.3', 'JSONRPC'],
  ['0.3', 'HTTP+JSON'],
] as const)('over A2A %s, %s', async (version, binding) => {
  const { exchanges, fetch } = recording(version)
  const client = await connect(server.url, { version, binding, fetch })
  await tellEverything(client)
  const progressing = await connect(server.url, { version, binding, fetch, agent: 'progressing' })
  for await (const _ of progressing.stream('go'));
  await readStream(await connect(server.url, { version, binding, fetch, agent: 'streaming' }))
  expect(exchanges.length).toBeGreaterThan(30)
  for (const exchange of exchanges) await judgeExchange(exchange)
})

it('has needed every shape that is published', () => {
  const shapes = extensions.flatMap((one) => one.shapes as string[])
  expect([...used].sort()).toEqual([...shapes, 'CloudEvent'].sort())
})
