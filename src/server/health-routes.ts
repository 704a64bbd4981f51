import type { Hono } from 'hono'
import type { Engine } from '../engine/engine.ts'
import { version } from './version.ts'

/**
 * `/healthz`: the process works, or may work again by itself; 503 means that only a restart helps. `/readyz`: the store
 * can be reached and new work is taken.
 *
 * @param lost why only a restart helps; undefined while it works
 */
export function healthRoutes(app: Hono, engine: Engine, lost: () => string | undefined): void {
  app.get('/healthz', (c) => {
    const why = lost()
    if (why !== undefined) return c.json({ status: 'lost', why, version }, 503)
    return c.json({ status: 'ok', version })
  })
  app.get('/readyz', async (c) => {
    const health = await engine.health()
    return c.json(health, health.ready ? 200 : 503)
  })
}
