/**
 * Spans for operators. `server/telemetry` makes them with the API of OpenTelemetry. While no SDK is registered `start`
 * returns undefined, so that tracing costs nothing.
 */
import type { SpanLink } from '../core/values/span-link.ts'

/** Attributes of a span. They must not contain inputs, bodies, transcripts or credentials. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

export interface SpanFacts {
  readonly kind?: SpanKind
  /** The parent span. Absent: the span begins a new trace. */
  readonly parent?: SpanLink | undefined
  readonly links?: readonly { readonly to: SpanLink; readonly kind: string }[]
  readonly attributes?: SpanAttributes
  /** Epoch milliseconds. Default: now. */
  readonly startedAt?: number
}

export interface Span {
  readonly link: SpanLink
  set(attributes: SpanAttributes): void
  event(name: string, attributes?: SpanAttributes): void
  /**
   * Marks the span as failed. Only the type of the error is shown, because messages may quote
   * inputs.
   */
  fail(errorType: string): void
  end(endedAt?: number): void
  /** Runs code with this span as the current one, also after each `await`. */
  during<T>(code: () => T): T
}

export interface Tracing {
  /** Whether spans are recorded at all. It may change while the process runs. */
  active(): boolean
  /** The current span of the calling code. */
  current(): SpanLink | undefined
  start(name: string, facts: SpanFacts): Span | undefined
}

/** Traces nothing. */
export const noTracing: Tracing = {
  active: () => false,
  current: () => undefined,
  start: () => undefined,
}
