import type { Hono } from 'hono'
import type { Engine } from '../engine/engine.ts'
import { version } from './version.ts'

/**
 * `/healthz` answers 503 when only a restart of the process helps. `/readyz` answers 200 when the store can be written and
 * new work is accepted.
 *
 * @param lost why only a restart helps; undefined while it works
 */
export function healthRoutes(app: Hono, engine: Engine, lost: () => string | undefined): void {
  app.get('/healthz', (c) => {
    const why = lost()
    const worker = engine.worker()
    if (why !== undefined) return c.json({ status: 'lost', why, version, worker }, 503)
    return c.json({ status: 'ok', version, worker })
  })
  app.get('/readyz', async (c) => {
    const health = await engine.health()
    return c.json(health, health.ready ? 200 : 503)
  })
}
