/**
 * Identifies a span of a trace, as in W3C Trace Context. It is stored with stops, and sent over the
 * wire.
 */
import type { JsonObject } from './json.ts'

export interface SpanLink {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Set when the trace is not recorded. */
  readonly sampled?: false
}

/** Converts to the `SpanLink` of the RFCs. */
export function toWireSpanLink({ traceId, spanId }: SpanLink): JsonObject {
  return { trace_id: traceId, span_id: spanId }
}

export function toTraceparent({ traceId, spanId, sampled }: SpanLink): string {
  return `00-${traceId}-${spanId}-${sampled === false ? '00' : '01'}`
}

const traceparent =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/
const SAMPLED = 1

/**
 * Parses a `traceparent`. Returns undefined if it is malformed, so that such a header does not fail
 * the request.
 */
export function fromTraceparent(text: unknown): SpanLink | undefined {
  const found = typeof text === 'string' ? traceparent.exec(text) : null
  if (found === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = found
  const sampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED
  return sampled ? { traceId, spanId } : { traceId, spanId, sampled }
}
