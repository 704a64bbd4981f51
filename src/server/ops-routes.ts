/** What operators ask, as JSON. */
import type { Hono } from 'hono'
import type { Engine } from '../engine/engine.ts'
import { listWaiting } from '../protocols/ops/waiting.ts'
import { callerIn } from './caller.ts'

export function opsRoutes(app: Hono, engine: Engine): void {
  app.get('/ops/waiting', async (c) => {
    const query = new URL(c.req.url).searchParams
    const page = await listWaiting(engine, callerIn(query), query)
    return c.json(page, 200, { 'cache-control': 'no-store' })
  })
}
