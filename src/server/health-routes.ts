import type { Hono } from 'hono'
import type { Engine } from '../engine/engine.ts'
import { version } from './version.ts'

/** `/healthz`: the process answers. `/readyz`: the store can be reached and new work is taken. */
export function healthRoutes(app: Hono, engine: Engine): void {
  app.get('/healthz', (c) => c.json({ status: 'ok', version }))
  app.get('/readyz', async (c) => {
    const health = await engine.health()
    return c.json(health, health.ready ? 200 : 503)
  })
}
