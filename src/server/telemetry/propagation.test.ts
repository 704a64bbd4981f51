/** Trace context into a server and out of it, and spans at a receiver of OTLP. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../client/index.ts'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, serve } from '../serve.ts'
import { idOf, linksOf, type RecordedSpans, recordSpans } from '../test-support/recorded-spans.ts'
import { reportMissingSdk } from './tracing.ts'

interface Received {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let data: string
let serving: RunningServer
let receiver: Server
let spans: RecordedSpans
const received: Received[] = []

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-traces-'))
  receiver = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces).toString()
    received.push({ path: request.url, headers: request.headers, body })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  spans = recordSpans(new SimpleSpanProcessor(new OTLPTraceExporter({ url: at('/v1/traces') })))
  serving = await serve({
    agents: [scriptAgent],
    port: 0,
    data,
    a2a: { pushToPrivate: true },
    log: () => undefined,
    quiet: true,
  })
})
afterAll(async () => {
  await serving.close()
  await spans.stop()
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
  rmSync(data, { recursive: true })
})

const at = (path: string): string =>
  `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`

/** A span ends when its answer was sent, which a caller may learn earlier. */
async function ended<T>(find: () => T | undefined): Promise<T> {
  await expect.poll(find).toBeDefined()
  const found = find()
  if (found === undefined) throw new Error('it was there, and is gone')
  return found
}

/** The spans that arrived at the receiver, as OTLP in JSON names them. */
interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly links?: readonly { readonly spanId: string }[]
}

const exported = (): readonly OtlpSpan[] =>
  received
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap((scope) => scope.spans)

async function rpc(method: string, params: object): Promise<void> {
  const answer = await fetch(serving.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  expect(await answer.json()).not.toHaveProperty('error')
}

it('carries a trace from a client through the task to its webhook, its event and its resume', async () => {
  const traced = createClient({
    url: serving.url,
    headers: () => {
      const headers: Record<string, string> = {}
      propagation.inject(context.active(), headers)
      return headers
    },
  })
  const caller = trace.getTracer('test').startSpan('caller')
  const inCaller = trace.setSpan(context.active(), caller)
  const { traceId } = caller.spanContext()

  const script = [{ park: { reason: 'CI', conditions: { onEvent: 'ci.done' } } }, { say: 'on' }]
  const answer = await context.with(inCaller, () => traced.send(JSON.stringify({ script })))
  if (answer.kind !== 'task') throw new Error('a task was expected')
  const taskId = answer.task.id
  expect(spans.one('suspension').spanContext().traceId).toBe(traceId)
  await rpc('CreateTaskPushNotificationConfig', { taskId, id: 'h', url: at('/hook') })
  const event = { specversion: '1.0', id: '1', source: 'ci', type: 'ci.done' }
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
  await fetch(`${serving.url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', traceparent },
    body: JSON.stringify(event),
  })
  await traced.waitFor(taskId, 'completed')
  const resume = await ended(() => spans.named('resume')[0])
  expect(linksOf(resume)).toMatchObject({ suspension: idOf(spans.one('suspension')) })
  // The event has no attribute of its own, so it has the span of the request that brought it.
  const ofEvent = await ended(() => spans.named('POST /events')[0])
  expect(ofEvent.parentSpanContext?.spanId).toBe('2'.repeat(16))
  expect(linksOf(resume)['event']).toBe(idOf(ofEvent))

  const parent = caller.spanContext().spanId
  const sent = await ended(() =>
    spans.named('POST /').find((span) => span.parentSpanContext?.spanId === parent),
  )
  expect(sent.attributes).toMatchObject({
    'http.request.method': 'POST',
    'rpc.method': 'SendMessage',
  })
  const hook = await ended(() => received.find(({ path }) => path === '/hook'))
  const [, hookTrace, hookSpan] = String(hook.headers['traceparent']).split('-')
  await ended(() => spans.named('push').find((span) => idOf(span) === hookSpan))
  expect([traceId, resume.spanContext().traceId]).toContain(hookTrace)
  caller.end()
})

it('arrives at a receiver of OTLP, suspension and resume paired by their link', async () => {
  const suspension = await ended(() => exported().find(({ name }) => name === 'suspension'))
  const resume = await ended(() => exported().find(({ name }) => name === 'resume'))
  expect(resume.links?.map(({ spanId }) => spanId)).toContain(suspension.spanId)
  expect(resume.traceId).not.toBe(suspension.traceId)
})

it('says so when a receiver is named and no SDK is registered', async () => {
  const lines: string[] = []
  const note = (_: string, text: string): void => void lines.push(text)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  reportMissingSdk(note, env)
  expect(lines).toEqual([])
  await spans.stop()
  reportMissingSdk(note, { ...env, OTEL_SDK_DISABLED: 'true' })
  reportMissingSdk(note, {})
  expect(lines).toEqual([])
  reportMissingSdk(note, env)
  expect(lines).toEqual([
    'OTEL_EXPORTER_OTLP_ENDPOINT is set, and no SDK of OpenTelemetry is registered: nothing is traced',
  ])
})
