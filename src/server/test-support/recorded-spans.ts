/** An SDK of OpenTelemetry that keeps its spans in memory. For tests only. */
import { type Attributes, context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

export interface RecordedSpans {
  /** The spans that have ended, in that order. */
  all(): readonly ReadableSpan[]
  named(name: string): readonly ReadableSpan[]
  /** The only one of that name. */
  one(name: string): ReadableSpan
  /** Takes the SDK away. */
  stop(): Promise<void>
}

export function recordSpans(...processors: readonly SpanProcessor[]): RecordedSpans {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter), ...processors],
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name)
  return {
    all: () => exporter.getFinishedSpans(),
    named,
    one(name) {
      const [first, ...more] = named(name)
      if (first !== undefined && more.length === 0) return first
      const names = exporter.getFinishedSpans().map((span) => span.name)
      throw new Error(`one span "${name}" was expected among ${names.join(', ')}`)
    },
    async stop() {
      trace.disable()
      context.disable()
      propagation.disable()
      await provider.shutdown()
    },
  }
}

export const idOf = (span: ReadableSpan): string => span.spanContext().spanId

/** The links of a span: kind and id of the span they lead to. */
export const linksOf = (span: ReadableSpan): Attributes =>
  Object.fromEntries(
    span.links.map((link) => [String(link.attributes?.['lull.link.kind']), link.context.spanId]),
  )
