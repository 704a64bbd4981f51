/** The span of a request that is answered with a `Response`, as by embedded agents. */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { endRequestSpan, nameOfRequest, onlyTrace } from './request-span.ts'
import { registeredTracer } from './tracing.ts'

const headersOf: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/**
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
