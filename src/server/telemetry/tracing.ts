/**
 * Creates spans with the API of OpenTelemetry. Programs that register an SDK get them. Without an
 * SDK `active` is false, and nothing is created.
 */

import {
  type Attributes,
  context,
  type Span as OtelSpan,
  SpanKind as OtelSpanKind,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import type { SpanLink } from '../../core/values/span-link.ts'
import type { Log } from '../../ports/log.ts'
import type { Span, SpanAttributes, SpanFacts, SpanKind, Tracing } from '../../ports/tracing.ts'
import type { Environment } from '../settings/settings.ts'
import { version } from '../settings/version.ts'

const NAME = 'lull'

const kinds: Readonly<Record<SpanKind, OtelSpanKind>> = {
  internal: OtelSpanKind.INTERNAL,
  server: OtelSpanKind.SERVER,
  client: OtelSpanKind.CLIENT,
  producer: OtelSpanKind.PRODUCER,
  consumer: OtelSpanKind.CONSUMER,
}

export const tracing: Tracing = {
  active: () => registeredTracer() !== undefined,
  current() {
    const span = registeredTracer() === undefined ? undefined : trace.getActiveSpan()
    return span === undefined ? undefined : linkOf(span.spanContext())
  },
  start(name, facts) {
    const tracer = registeredTracer()
    return tracer === undefined ? undefined : startSpan(tracer, name, facts)
  },
}

let known: { readonly provider: unknown; readonly tracer: Tracer | undefined } = {
  provider: undefined,
  tracer: undefined,
}

/**
 * The tracer of the registered SDK, if any. It is looked up each time, because a program may
 * register one at any time.
 */
export function registeredTracer(): Tracer | undefined {
  const proxy = trace.getTracerProvider()
  const provider = delegateOf(proxy)
  if (known.provider !== provider) known = { provider, tracer: tracerOf(proxy) }
  return known.tracer
}

/** The registered provider, which is behind a proxy of the API. */
function delegateOf(proxy: TracerProvider): unknown {
  return 'getDelegate' in proxy && typeof proxy.getDelegate === 'function'
    ? proxy.getDelegate()
    : proxy
}

function tracerOf(provider: TracerProvider): Tracer | undefined {
  if (!('getDelegateTracer' in provider)) return provider.getTracer(NAME, version)
  const { getDelegateTracer } = provider
  return typeof getDelegateTracer === 'function'
    ? getDelegateTracer.call(provider, NAME, version)
    : undefined
}

function startSpan(tracer: Tracer, name: string, facts: SpanFacts): Span {
  const { kind = 'internal', parent, links = [], attributes = {}, startedAt } = facts
  const options = {
    kind: kinds[kind],
    root: parent === undefined,
    attributes: given(attributes),
    links: links.map((link) => ({
      context: contextOf(link.to),
      attributes: { 'lull.link.kind': link.kind },
    })),
    ...(startedAt === undefined ? {} : { startTime: startedAt }),
  }
  const active = context.active()
  const around = parent === undefined ? active : trace.setSpanContext(active, contextOf(parent))
  return shown(tracer.startSpan(name, options, around))
}

function shown(span: OtelSpan): Span {
  return {
    link: linkOf(span.spanContext()),
    set: (attributes) => void span.setAttributes(given(attributes)),
    event: (name, attributes = {}) => void span.addEvent(name, given(attributes)),
    fail(errorType) {
      span.setAttribute('error.type', errorType.slice(0, LONGEST_TYPE))
      span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end: (endedAt) => span.end(endedAt),
    during: (code) => context.with(trace.setSpan(context.active(), span), code),
  }
}

const LONGEST_TYPE = 100

function linkOf({ traceId, spanId, traceFlags }: SpanContext): SpanLink {
  const sampled = (traceFlags & TraceFlags.SAMPLED) === TraceFlags.SAMPLED
  return sampled ? { traceId, spanId } : { traceId, spanId, sampled }
}

function contextOf({ traceId, spanId, sampled }: SpanLink): SpanContext {
  const traceFlags = sampled === false ? TraceFlags.NONE : TraceFlags.SAMPLED
  return { traceId, spanId, traceFlags, isRemote: true }
}

/** Drops undefined attributes, which OpenTelemetry does not accept. */
function given(attributes: SpanAttributes): Attributes {
  const known: Attributes = {}
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== undefined) known[name] = value
  }
  return known
}

const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const

/**
 * Warns if an endpoint for spans is configured but no OpenTelemetry SDK is registered, so that no
 * spans are exported.
 */
export function reportMissingSdk(log: Log, env: Environment = process.env): void {
  const variable = endpoints.find((name) => env[name])
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  if (variable === undefined || isOff || tracing.active()) return
  log('warn', `${variable} is set, and no SDK of OpenTelemetry is registered: nothing is traced`, {
    help: 'start with node --import, as docs/observability.md shows',
  })
}
