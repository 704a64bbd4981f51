/** The whole server as one function from request to response: guard, limits, then what is served. */
import { Hono } from 'hono'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../ports/log.ts'
import type { A2A } from '../protocols/a2a/index.ts'
import { limitBody } from './body-limit.ts'
import { anybody } from './caller.ts'
import { eventRoutes } from './event-routes.ts'
import { createGuard } from './guard.ts'
import { healthRoutes } from './health-routes.ts'
import { homePage } from './home-page.ts'
import { notAllowed, notFound, refusal, refusalOf } from './refusals.ts'

export interface AppOptions {
  readonly engine: Engine
  readonly a2a: A2A
  readonly log: Log
  /** The address it listens on. */
  readonly host: string
  /** Where it is reached, without a slash at the end. */
  readonly url: string
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly bodyLimitBytes?: number | undefined
}

const BODY_LIMIT_BYTES = 10 * 1024 * 1024

/** Paths that exist with these methods only. */
const methods: Readonly<Record<string, readonly string[]>> = {
  '/': ['GET', 'HEAD', 'POST'],
  '/healthz': ['GET', 'HEAD'],
  '/readyz': ['GET', 'HEAD'],
  '/events': ['POST'],
}

export function createApp(options: AppOptions): Hono {
  const { engine, a2a, log, url, bodyLimitBytes = BODY_LIMIT_BYTES } = options
  const guard = createGuard(options)
  const app = new Hono()

  app.use(async (c, next) => {
    const { headers } = c.req.raw
    const host = headers.get('host') ?? new URL(c.req.url).host
    const refused = guard(host, headers.get('origin'))
    return refused === undefined ? next() : refusal(403, refused.code, refused.message)
  })
  app.use(limitBody(bodyLimitBytes))
  healthRoutes(app, engine)
  eventRoutes(app, engine)
  app.get('/', () => homePage([...engine.agents.values()], url))
  // Last, because it knows for itself which addresses are its own.
  app.all('*', async (c) => {
    const { raw } = c.req
    const answer = await a2a.fetch(raw, { caller: anybody, anyTenant: true, signal: raw.signal })
    return answer ?? c.notFound()
  })
  app.notFound((c) => {
    const allowed = methods[c.req.path] ?? methodsOfAgent(c.req.path, engine)
    return allowed === undefined ? notFound(c.req.path) : notAllowed(c.req.method, allowed)
  })
  app.onError((error, c) => {
    const response = refusalOf(error)
    if (response.status === 500) {
      log('error', 'a request failed', { method: c.req.method, path: c.req.path, error })
    }
    return response
  })
  return app
}

function methodsOfAgent(path: string, { agents }: Engine): readonly string[] | undefined {
  const name = /^\/agents\/([^/]+)\/?$/.exec(path)?.[1]
  return name !== undefined && agents.has(name) ? ['POST'] : undefined
}
