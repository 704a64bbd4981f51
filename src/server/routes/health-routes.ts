import type { Hono } from 'hono'
import type { Engine } from '../../engine/engine.ts'
import type { Health } from '../../engine/executor/health.ts'
import { version } from '../settings/version.ts'

/**
 * Paths that everybody may call without any limit, so that nobody can make a load balancer remove
 * the server.
 */
export const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/**
 * `/healthz` answers 503 when only a restart of the process helps. `/readyz` answers 200 when the
 * store can be written to and new work is accepted. Simultaneous requests share one check of the
 * store.
 * @param lost why only a restart helps; undefined while the store works
 */
export function healthRoutes(app: Hono, engine: Engine, lost: () => string | undefined): void {
  app.get('/healthz', (c) => {
    const why = lost()
    const worker = engine.worker()
    if (why !== undefined) return c.json({ status: 'lost', why, version, worker }, 503)
    return c.json({ status: 'ok', version, worker })
  })
  let asking: Promise<Health> | undefined
  const ask = (): Promise<Health> => {
    asking ??= engine.health().finally(() => {
      asking = undefined
    })
    return asking
  }
  app.get('/readyz', async (c) => {
    const health = await ask()
    return c.json(health, health.ready ? 200 : 503)
  })
}
