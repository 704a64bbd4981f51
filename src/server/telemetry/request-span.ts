/** The span of an HTTP request. It continues the trace named in the headers of the request. */
import type { EventEmitter } from 'node:events'
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { whenOver } from '../http/counted-response.ts'
import { registeredTracer } from './tracing.ts'

interface TracedRequest {
  readonly method: string
  readonly path: string
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** Calls `handle` in a span that ends when the answer was sent or the client has disconnected. */
export function inRequestSpan<R extends TracedRequest, T>(
  handle: (request: R) => T,
): (request: R) => T {
  return (request) => {
    const tracer = registeredTracer()
    return tracer === undefined ? handle(request) : traced(tracer, request, handle)
  }
}

function traced<R extends TracedRequest, T>(
  tracer: Tracer,
  request: R,
  handle: (request: R) => T,
): T {
  const { method, path, incoming, outgoing } = request
  const parent = onlyTrace(propagation.extract(ROOT_CONTEXT, incoming.headers))
  const { name, attributes } = nameOfRequest(method, path)
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
  whenOver(outgoing, () => endRequestSpan(span, outgoing.statusCode))
  return context.with(trace.setSpan(parent, span), handle, undefined, request)
}

/** A call over gRPC. */
interface TracedCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly stream: { readonly sentTrailers?: OutgoingHttpHeaders | undefined } & EventEmitter
}

/** Calls `handle` in a span that ends when the stream of the call is over. */
export function inCallSpan<T>({ path, headers, stream }: TracedCall, handle: () => T): T {
  const tracer = registeredTracer()
  if (tracer === undefined) return handle()
  const parent = onlyTrace(propagation.extract(ROOT_CONTEXT, headers))
  const name = path.slice(1)
  const attributes = { 'rpc.system': 'grpc', 'rpc.method': name }
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
  stream.on('close', () => {
    const status = Number(stream.sentTrailers?.['grpc-status'] ?? 0)
    span.setAttribute('rpc.grpc.status_code', status)
    if (serverFaults.has(status)) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  })
  return context.with(trace.setSpan(parent, span), handle)
}

/** Unknown, deadline exceeded, unimplemented, internal, unavailable and data loss, as OpenTelemetry's conventions say. */
const serverFaults: ReadonlySet<number> = new Set([2, 4, 12, 13, 14, 15])

export function nameOfRequest(
  method: string,
  path: string,
): { readonly name: string; readonly attributes: Attributes } {
  const route = routeOf(path)
  const attributes = { 'http.request.method': method, 'http.route': route }
  return { name: `${method} ${route}`, attributes }
}

/**
 * Takes over only the trace. Baggage from an unknown sender would be forwarded with calls that
 * agents make.
 */
export function onlyTrace(given: Context): Context {
  const named = trace.getSpanContext(given)
  return named === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, named)
}

/** Names the protocol method that the request calls. */
export function nameRequestSpan(rpcMethod: string): void {
  trace.getActiveSpan()?.setAttribute('rpc.method', rpcMethod)
}

export function endRequestSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) {
    span.setAttribute('error.type', String(status))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

const roots: ReadonlySet<string> = new Set([
  'agents',
  'ops',
  'events',
  'acp',
  'healthz',
  'readyz',
  'metrics',
  'dashboard',
  '.well-known',
])

/** The route for metrics and spans: one of few names, and nothing that a caller chose. */
function routeOf(path: string): string {
  const [, first = ''] = path.split('/', 2)
  return roots.has(first) ? `/${first}` : '/'
}

const headersOf: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/**
 * The span of a request that is answered with a `Response`, as by embedded agents.
 * Calls `answer` in a span. It continues the current span of the app, or the trace named in the
 * headers. The span ends with the answer; that of a stream ends when the stream was read or
 * cancelled.
 * @param path the path of the request, below the path of the agents
 */
export async function inFetchSpan(
  { method, headers }: Request,
  path: string,
  answer: () => Promise<Response>,
): Promise<Response> {
  const tracer = registeredTracer()
  if (tracer === undefined) return answer()
  const active = context.active()
  const isInSpan = trace.getSpanContext(active) !== undefined
  const parent = isInSpan
    ? active
    : onlyTrace(propagation.extract(ROOT_CONTEXT, headers, headersOf))
  const { name, attributes } = nameOfRequest(method, path)
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
  const response = await context.with(trace.setSpan(parent, span), answer)
  const end = (): void => endRequestSpan(span, response.status)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isStream || response.body === null) {
    end()
    return response
  }
  return new Response(untilRead(response.body, end), response)
}

function untilRead(body: ReadableStream<Uint8Array>, over: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        over()
        throw error
      })
      if (!done) return controller.enqueue(value)
      over()
      controller.close()
    },
    cancel(reason) {
      over()
      return reader.cancel(reason)
    },
  })
}
