/**
 * CloudEvents 1.0 out of an HTTP request, in the three modes of its HTTP binding: structured (one event is the body),
 * batched (a list of them) and binary (attributes in headers). Only the envelope is looked at here; the engine checks
 * each event.
 */
import type { CloudEvent } from '../../core/waiting/cloud-event.ts'
import { parseStrictJson } from '../../http/strict-json.ts'
import { binaryEvent, isBinary } from './binary-mode.ts'
import { invalid } from './header-value.ts'

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
