/** `POST /events`: CloudEvents 1.0 over HTTP, structured mode, one or a batch. Duplicates are acknowledged and ignored. */
import type { Context, Hono } from 'hono'
import type { CloudEvent } from '../core/cloud-event.ts'
import type { Engine } from '../engine/engine.ts'
import { parseStrictJson } from '../wire/strict-json.ts'
import { anybody } from './caller.ts'
import { refusal } from './refusals.ts'

const ONE = 'application/cloudevents+json'
const BATCH = 'application/cloudevents-batch+json'

export function eventRoutes(app: Hono, engine: Engine): void {
  app.post('/events', async (c) => {
    const body = await eventsIn(c)
    if (body instanceof Response) return body
    const results = await engine.emit(anybody, body as readonly CloudEvent[])
    const accepted = results.filter(({ fresh }) => fresh).length
    return c.json({ accepted, duplicates: results.length - accepted }, 202)
  })
}

/** Only the envelope is looked at here; the engine checks each event. */
async function eventsIn(c: Context): Promise<readonly unknown[] | Response> {
  const mediaType = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (mediaType !== ONE && mediaType !== BATCH) {
    return refusal(415, 'UNSUPPORTED_MEDIA_TYPE', `Send ${ONE}, or ${BATCH} for several events`)
  }
  const parsed = parseStrictJson(new Uint8Array(await c.req.arrayBuffer()))
  if (parsed.problem !== undefined) return refusal(400, 'INVALID_INPUT', parsed.problem)
  const events: unknown = mediaType === ONE ? [parsed.value] : parsed.value
  if (!Array.isArray(events)) {
    return refusal(400, 'INVALID_INPUT', 'A batch is an array of events')
  }
  const strange = events.findIndex((event) => specversionOf(event) !== '1.0')
  if (strange < 0) return events
  const path = mediaType === ONE ? 'specversion' : `events.${strange}.specversion`
  return refusal(400, 'INVALID_INPUT', `${path}: must be "1.0"`)
}

function specversionOf(event: unknown): unknown {
  return typeof event === 'object' && event !== null && 'specversion' in event
    ? event.specversion
    : undefined
}
