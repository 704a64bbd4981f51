/** The HTTP routes other than A2A. `front.ts` calls this application. */

import { Hono } from 'hono'
import type { Engine } from '../../engine/engine.ts'
import type { Health } from '../../engine/executor/health.ts'
import type { Log } from '../../ports/log.ts'
import { answerOf, readEvents } from '../../protocols/cloud-events/read-events.ts'
import { RECEIPT_KEYS_PATH } from '../../protocols/ops/openapi.ts'
import { ACP_PATH, type AcpMount } from '../acp/acp-mount.ts'
import { sentBy } from '../auth/event-sender.ts'
import { checkRoutes, createGate, type IdentityOf } from '../auth/gate.ts'
import { type Identity, memberIn } from '../auth/identity.ts'
import type { SignIn } from '../auth/sign-in/sign-in.ts'
import { contentType } from '../metrics/meter.ts'
import { addOpsRoutes, opsMethods } from '../routes/ops-routes.ts'
import { dashboardRoutes, homePage } from '../routes/pages.ts'
import { addSignInRoutes } from '../routes/sign-in-routes.ts'
import { version } from '../settings/version.ts'
import { notAllowed, notFound, refusal, refusalOf } from './refusals.ts'

export interface AppOptions {
  readonly engine: Engine
  /** Absent if `/acp` is not served. */
  readonly acp?: Pick<AcpMount, 'fetch'>
  readonly log: Log
  readonly identityOf: IdentityOf
  /** Why only a restart of the process helps. Undefined while the store works. */
  readonly lost?: () => string | undefined
  /** Returns the text of `/metrics`. Absent: not served. */
  readonly metrics?: (identity: Identity) => Promise<string>
  /** Absent if people cannot sign in. */
  readonly signIn?: (() => Promise<SignIn>) | undefined
  /** The path below which an app serves these routes. Absent on a server. */
  readonly prefix?: string | undefined
  /** The public URL, without a slash at the end. */
  readonly url: string
  /** Where a trace is shown; `{traceId}` stands for its id. */
  readonly traceUrl?: string | undefined
}

/** Outsiders may cache the keys for some minutes, because they change only with a restart. */
const keysHeaders = { 'cache-control': 'public, max-age=300' }

/** The methods of each path, for answers with 405. */
const methods: Readonly<Record<string, readonly string[]>> = {
  '/': ['GET', 'HEAD', 'POST'],
  '/healthz': ['GET', 'HEAD'],
  '/readyz': ['GET', 'HEAD'],
  '/metrics': ['GET', 'HEAD'],
  [RECEIPT_KEYS_PATH]: ['GET', 'HEAD'],
  '/events': ['POST'],
  '/auth/login': ['GET', 'HEAD'],
  '/auth/callback': ['GET', 'HEAD'],
  '/auth/session': ['GET', 'HEAD'],
  '/auth/logout': ['POST'],
  [ACP_PATH]: ['GET', 'POST', 'DELETE'],
}

/** @throws StartError if a route has no row in the table of scopes */
export function createApp(options: AppOptions): Hono {
  const { engine, acp, log, url, identityOf } = options
  const app = new Hono()
  app.use('*', createGate(identityOf))

  app.get(RECEIPT_KEYS_PATH, (c) => c.json({ keys: engine.receiptKeys }, 200, keysHeaders))
  healthRoutes(app, engine, options.lost ?? (() => undefined))
  const { metrics } = options
  if (metrics !== undefined) {
    app.get('/metrics', async (c) =>
      c.body(await metrics(identityOf(c)), 200, { 'content-type': contentType }),
    )
  }
  eventRoutes(app, engine, identityOf)
  addOpsRoutes(app, engine, identityOf, options.traceUrl)
  addSignInRoutes(app, options)
  dashboardRoutes(app, options.prefix)
  if (acp !== undefined) {
    app.on(['GET', 'POST', 'DELETE'], ACP_PATH, (c) => acp.fetch(c.req.raw, identityOf(c)))
  }
  app.get('/', () => homePage([...engine.agents.values()], url))
  app.notFound((c) => {
    const allowed = methods[c.req.path] ?? methodsBelow(c.req.path, engine)
    // Also for a path whose id is missing, such as `DELETE /ops/holds/`.
    if (allowed === undefined || allowed.includes(c.req.method)) return notFound(c.req.path)
    return notAllowed(c.req.method, allowed)
  })
  app.onError((error, c) => {
    const response = refusalOf(error)
    if (response.status === 500) {
      log('error', 'a request failed', { method: c.req.method, path: c.req.path, error })
    }
    return response
  })
  checkRoutes(app)
  return app
}

function methodsBelow(path: string, { agents }: Engine): readonly string[] | undefined {
  const ofOps = opsMethods(path)
  if (ofOps !== undefined) return ofOps
  const name = /^\/agents\/([^/]+)\/?$/.exec(path)?.[1]
  return name !== undefined && agents.has(name) ? ['POST'] : undefined
}

/** `POST /events`: accepts CloudEvents 1.0 over HTTP. Duplicates are acknowledged and ignored. */
function eventRoutes(app: Hono, engine: Engine, identityOf: IdentityOf): void {
  app.post('/events', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer())
    const read = readEvents(c.req.raw.headers, body)
    if (read.unsupported !== undefined) {
      return refusal(415, 'UNSUPPORTED_MEDIA_TYPE', read.unsupported)
    }
    const identity = identityOf(c)
    const caller = memberIn(identity, new URL(c.req.url).searchParams)
    const results = await engine.emit(caller, sentBy(identity, read.events))
    return c.json(answerOf(results), 202)
  })
}

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
function healthRoutes(app: Hono, engine: Engine, lost: () => string | undefined): void {
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
