/** `POST /events`: accepts CloudEvents 1.0 over HTTP. Duplicates are acknowledged and ignored. */
import type { Hono } from 'hono'
import type { Engine } from '../../engine/engine.ts'
import { readEvents } from '../../protocols/cloud-events/read-events.ts'
import { sentBy } from '../auth/event-sender.ts'
import type { IdentityOf } from '../auth/gate.ts'
import { memberIn } from '../auth/identity.ts'
import { refusal } from '../http/refusals.ts'

export function eventRoutes(app: Hono, engine: Engine, identityOf: IdentityOf): void {
  app.post('/events', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer())
    const read = readEvents(c.req.raw.headers, body)
    if (read.unsupported !== undefined) {
      return refusal(415, 'UNSUPPORTED_MEDIA_TYPE', read.unsupported)
    }
    const identity = identityOf(c)
    const caller = memberIn(identity, new URL(c.req.url).searchParams)
    const results = await engine.emit(caller, sentBy(identity, read.events))
    const accepted = results.filter(({ fresh }) => fresh).length
    return c.json({ accepted, duplicates: results.length - accepted }, 202)
  })
}
