/** Routes for operators: waiting tasks and timelines, as JSON or as a stream of events. */
import type { Context, Hono } from 'hono'
import { LullError } from '../core/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { nextEvents, readTimeline } from '../protocols/ops/timeline.ts'
import { listWaiting } from '../protocols/ops/waiting.ts'
import { createHeartbeat, eventStream, eventStreamHeaders } from '../wire/event-stream.ts'
import { callerIn } from './caller.ts'
import { systemClock } from './system/clock.ts'

const noStore = { 'cache-control': 'no-store' }
const HEARTBEAT_MS = 4_000

export function opsRoutes(app: Hono, engine: Engine): void {
  const heartbeat = createHeartbeat(systemClock.after, HEARTBEAT_MS)

  app.get('/ops/waiting', async (c) => {
    const query = new URL(c.req.url).searchParams
    return c.json(await listWaiting(engine, callerIn(query), query), 200, noStore)
  })

  app.get('/ops/tasks/:id/timeline', async (c) => {
    const caller = callerIn(new URL(c.req.url).searchParams)
    const reading = await engine.follow(caller, c.req.param('id'), { after: afterIn(c) })
    if (c.req.header('accept')?.includes('text/event-stream')) {
      const next = async () => {
        const text = await nextEvents(reading)
        return { text: text ?? '', last: text === undefined }
      }
      const body = eventStream({ next, close: () => reading.close(), heartbeat })
      return new Response(body, { headers: eventStreamHeaders })
    }
    const { version } = await engine.get(caller, c.req.param('id'))
    try {
      return c.json(await readTimeline(reading, afterIn(c), version), 200, noStore)
    } finally {
      reading.close()
    }
  })
}

function afterIn(c: Context): number {
  const text = c.req.header('last-event-id') ?? c.req.query('after') ?? '0'
  if (text === 'latest') return Number.MAX_SAFE_INTEGER
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const problem = 'must be a whole number, or latest'
  throw new LullError('INVALID_INPUT', { path: 'after', problem })
}
