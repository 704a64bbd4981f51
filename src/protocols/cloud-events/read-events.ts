/**
 * CloudEvents 1.0 out of an HTTP request, in the three modes of its HTTP binding: structured (one event is the body),
 * batched (a list of them) and binary (attributes in headers). Only the envelope is looked at here; the engine checks
 * each event.
 */

import { LullError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { CloudEvent } from '../../core/waiting/cloud-event.ts'
import { parseStrictJson } from '../../http/strict-json.ts'

const ONE = 'application/cloudevents+json'
const BATCH = 'application/cloudevents-batch+json'

export type EventsRead =
  | { readonly events: readonly CloudEvent[]; readonly unsupported?: undefined }
  /** The media type is none of ours: what to send. */
  | { readonly unsupported: string }

/** @throws LullError `INVALID_INPUT` with the path of the mistake */
export function readEvents(headers: Headers, body: Uint8Array): EventsRead {
  const mediaType = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (mediaType === ONE) return checked([jsonIn(body)])
  if (mediaType === BATCH) {
    const events = jsonIn(body)
    if (!Array.isArray(events)) throw invalid('', 'A batch is an array of events')
    return checked(events)
  }
  // A format of CloudEvents that is not ours must not pass for the data of an event.
  const isForeign = mediaType?.startsWith('application/cloudevents') ?? false
  if (!isForeign && isBinary(headers)) return checked([binaryEvent(headers, body)])
  return {
    unsupported: `Send ${ONE}, ${BATCH} for several events, or the attributes as ce-… headers and the data as the body`,
  }
}

function jsonIn(body: Uint8Array): unknown {
  const parsed = parseStrictJson(body)
  if (parsed.problem !== undefined) throw invalid('', parsed.problem)
  return parsed.value
}

/** The engine takes events that name no version, a wire must not: the next one may mean something else. */
function checked(events: readonly unknown[]): EventsRead {
  for (const [index, event] of events.entries()) {
    if (specversionOf(event) === '1.0') continue
    const path = events.length === 1 ? 'specversion' : `events.${index}.specversion`
    throw invalid(path, 'must be "1.0"')
  }
  return { events: events as readonly CloudEvent[] }
}

function specversionOf(event: unknown): unknown {
  return typeof event === 'object' && event !== null && 'specversion' in event
    ? event.specversion
    : undefined
}

/** Binary mode: attributes are headers (`ce-…`), the body is the data and `Content-Type` says what that is. */
const PREFIX = 'ce-'

function isBinary(headers: Headers): boolean {
  return [...headers.keys()].some((name) => name.startsWith(PREFIX))
}

/** Headers that are refused, because another part of the request has the same value. */
const duplicates: Readonly<Record<string, string>> = {
  'ce-datacontenttype': 'is said by Content-Type',
  'ce-data': 'is the body',
  'ce-data_base64': 'is the body',
}

function binaryEvent(headers: Headers, body: Uint8Array): JsonObject {
  const event: Record<string, Json> = {}
  for (const [name, value] of headers) {
    if (!name.startsWith(PREFIX)) continue
    const problem = duplicates[name]
    if (problem !== undefined) throw invalid(name, problem)
    event[name.slice(PREFIX.length)] = headerValue(name, value)
  }
  const type = headers.get('content-type')
  if (type !== null) event['datacontenttype'] = type
  return body.length === 0 ? event : { ...event, ...dataIn(type, body) }
}

const JSON_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i
const TEXT_TYPE = /^text\//i

/** As the JSON format has it: JSON is a value, text is a string, anything else is base64. */
function dataIn(type: string | null, body: Uint8Array): JsonObject {
  if (type === null || JSON_TYPE.test(type)) {
    const parsed = parseStrictJson(body)
    if (parsed.problem !== undefined) throw invalid('data', parsed.problem)
    return { data: parsed.value as Json }
  }
  const text = TEXT_TYPE.test(type) ? textIn(body) : undefined
  return text === undefined ? { data_base64: Buffer.from(body).toString('base64') } : { data: text }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for text in another encoding: its bytes are kept as they are. */
function textIn(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body)
  } catch {
    return undefined
  }
}

/**
 * Attribute values in HTTP headers (CloudEvents HTTP binding 1.0.2 §3.1.3.2): quoted or not, percent-encoded UTF-8. The
 * Go and Java SDKs send UTF-8 as it is, which `Headers` has as one character per byte.
 * @param name of the header, for mistakes
 */
function headerValue(name: string, given: string): string {
  const isAscii = ASCII.test(given)
  const plain = isAscii ? given : utf8In(name, given)
  const quoted = QUOTED.exec(plain)?.[1]
  const text = quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1')
  // A sender that encodes percent signs encodes everything that is not ASCII too.
  if (!isAscii || !text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(name, 'must be percent-encoded UTF-8; a percent sign is written %25')
  }
}

function utf8In(name: string, given: string): string {
  const text = textIn(Buffer.from(given, 'latin1'))
  if (text !== undefined && !CONTROL.test(text)) return text
  throw invalid(name, 'must be UTF-8, percent-encoded or as it is')
}

const CONTROL = /\p{Cc}/u
const ASCII = /^[\x20-\x7e]*$/
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/

function invalid(path: string, problem: string): LullError {
  return new LullError('INVALID_INPUT', { path, problem })
}

/** The answer to a request with events. */
export interface EventsAnswer {
  readonly accepted: number
  /** Events whose source and id the server already had. They have no effect. */
  readonly duplicates: number
  /** How many tasks went on because of these events, or will when their hold is lifted. */
  readonly woken: number
}

export function answerOf(
  results: readonly { readonly fresh: boolean; readonly woken: number }[],
): EventsAnswer {
  const accepted = results.filter(({ fresh }) => fresh).length
  const woken = results.reduce((sum, one) => sum + one.woken, 0)
  return { accepted, duplicates: results.length - accepted, woken }
}
