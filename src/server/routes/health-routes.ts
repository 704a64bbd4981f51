import type { Hono } from 'hono'
import type { Engine } from '../../engine/engine.ts'
import type { Health } from '../../engine/executor/health.ts'
import { version } from '../settings/version.ts'

/** These are answered to everybody and count in no limit, so that nobody can take a server out of its load balancer. */
export const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/**
 * `/healthz` answers 503 when only a restart of the process helps. `/readyz` answers 200 when the store can be written and
 * new work is accepted. All who ask at the same time share one look at the store.
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
