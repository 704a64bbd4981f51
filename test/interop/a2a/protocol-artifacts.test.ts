/**
 * A real server speaks as `spec/protocol-artifacts` says: everything it sends and takes over every version and binding is
 * recorded and judged by the published schemas, until each of them has judged something.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, connect, type Part, type Task } from '../../../src/client/index.ts'
import { type Serving, serve } from '../../../src/server/serve.ts'
import { createScriptAgent } from '../../../src/testing/script-agent/script-agent.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever goes over the wire
type Loose = any

const artifacts = new URL('../../../spec/protocol-artifacts/', import.meta.url)
const read = (file: string): Loose => JSON.parse(readFileSync(new URL(file, artifacts), 'utf8'))
const { a2a: extensions }: { a2a: readonly Loose[] } = read('manifest.json')

const ajv = new Ajv2020({ validateFormats: false, allowUnionTypes: true })
for (const { schema } of extensions) ajv.addSchema(read(schema))
ajv.addSchema(read('events/cloud-events.schema.json'))

/** Shapes that have judged something. */
const used = new Set<string>()

function judge(extension: string, shape: string, value: unknown, protocol = 'a2a'): void {
  const validate = ajv.getSchema(`urn:lull:schema:${protocol}:${extension}#/$defs/${shape}`)
  if (validate === undefined) throw new Error(`no schema for ${extension} ${shape}`)
  const problem = validate(value) ? undefined : { shape, value, errors: validate.errors }
  expect(problem).toBeUndefined()
  used.add(shape)
}

const byUri = new Map(extensions.flatMap((one) => (one.uri === undefined ? [] : [[one.uri, one]])))

/** The metadata of everything in an answer: of tasks and updates, of messages within. */
function judgeMetadata(value: Loose): void {
  if (typeof value !== 'object' || value === null) return
  const { metadata } = value
  const isMessage = value.role !== undefined
  for (const [uri, facts] of Object.entries(metadata ?? {})) {
    const one = byUri.get(uri)
    if (one?.metadata === undefined) continue
    judge(one.name, isMessage ? 'ConsentAnswer' : one.metadata, facts)
  }
  if (!isMessage && metadata?.harn?.pause) judge('harn-tunnel', 'HarnPause', metadata.harn.pause)
  if (!isMessage && metadata?.harn?.reminder) {
    judge('harn-tunnel', 'HarnReminder', metadata.harn.reminder)
  }
  for (const inner of Object.values(value)) judgeMetadata(inner)
}

function judgeError(version: string, error: Loose): void {
  if (version === '1.0') {
    // Of REST the list is what both bindings share.
    judge('errors', 'ErrorDetails', error.data ?? error.details)
    if (error.data !== undefined) judge('errors', 'RpcErrorV1', error)
  } else {
    judge('errors', 'ErrorData', error.data)
    // REST adds a name and the error as 1.0 has it.
    const { type: _type, error: _error, ...rest } = error
    judge('errors', 'RpcErrorV03', rest)
  }
}

interface Exchange {
  readonly version: string
  readonly url: URL
  readonly request: Loose
  readonly ok: boolean
  readonly type: string
  readonly text: Promise<string>
}

/** Which method was called, and with what. */
function calledIn({ url, request }: Exchange): readonly [shapes: Loose, params: Loose] | undefined {
  const methods = extensions.flatMap(({ methods = [], name }) =>
    methods.map((one: Loose) => ({ ...one, extension: name })),
  )
  if (request?.method !== undefined) {
    const found = methods.find(({ method }) => method === request.method)
    return found && [found, request.params]
  }
  const [, taskId, action] = /\/tasks\/([^/:]+):(\w+)$/.exec(url.pathname) ?? []
  const found = methods.find(({ rest }) => rest.endsWith(`:${action}`))
  return found && [found, { ...request, taskId }]
}

async function judgeExchange(exchange: Exchange): Promise<void> {
  const { version, ok, type } = exchange
  const text = await exchange.text
  if (type.startsWith('text/event-stream')) {
    for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
      const frame = JSON.parse(data)
      if (frame.method !== undefined) judge('rfc-notifications', 'RfcNotification', frame)
      else if (frame.error !== undefined) judgeError(version, frame.error)
      else judgeMetadata(frame)
    }
    return
  }
  const body = JSON.parse(text)
  if (exchange.url.pathname.endsWith('agent-card.json')) return judgeCard(body)
  const error = ok || body.code === undefined ? body.error : body
  const called = calledIn(exchange)
  if (error !== undefined) return judgeError(version, error)
  judgeMetadata(body)
  if (called === undefined) return
  const [{ extension, request, result }, params] = called
  judge(extension, request, params)
  judge(extension, result, exchange.request?.method === undefined ? body : body.result)
}

function judgeCard({ capabilities }: Loose): void {
  for (const { uri, params } of capabilities.extensions) {
    const one = byUri.get(uri)
    expect(one, uri).toBeDefined()
    if (one.card !== undefined) judge(one.name, one.card, params)
  }
  if (capabilities.supportsPause) judge('task-control', 'PauseCapabilities', capabilities)
  if (capabilities.reminders) judge('reminders', 'RemindersParams', capabilities.reminders)
}

let directory: string
let server: Serving
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-artifacts-'))
  const data = join(directory, 'data')
  const progressing = {
    name: 'progressing',
    description: 'Says how far it is',
    run: (task: Loose) => task.progress(0.5, 'half'),
  }
  const agents = [createScriptAgent(), progressing]
  server = await serve({ agents, port: 0, data, log: () => undefined, quiet: true })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

function recording(version: string) {
  const exchanges: Exchange[] = []
  const recorded = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init)
    exchanges.push({
      version,
      url: new URL(url),
      request: init.body === undefined ? {} : JSON.parse(String(init.body)),
      ok: response.ok,
      type: response.headers.get('content-type') ?? '',
      text: response.clone().text(),
    })
    return response
  }
  return { exchanges, fetch: recorded }
}

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
  expect(exchanges.length).toBeGreaterThan(30)
  for (const exchange of exchanges) await judgeExchange(exchange)
})

it('has needed every shape that is published', () => {
  const shapes = extensions.flatMap((one) => one.shapes as string[])
  expect([...used].sort()).toEqual([...shapes, 'CloudEvent'].sort())
})
