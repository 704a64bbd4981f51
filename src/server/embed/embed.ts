/**
 * Runs agents inside a server of your own: `embed({ agents, url })` returns handlers in the shapes
 * that servers expect. They serve A2A and `POST /events` below the path of `url`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Log } from '../../ports/log.ts'
import type { A2AConfig } from '../../protocols/a2a/index.ts'
import { type OpenEngine, type OpenEngineOptions, toStderr } from '../open-engine.ts'
import { createLog } from '../system/log.ts'
import { createAnswer } from './fetch-handler.ts'
import { isNextBuild, mountOn, type OpenedOnce, openOnce } from './open-once.ts'

/** Determines the caller of a request. Undefined refuses the request with 401. */
export type CallerOf = (request: Request) => Caller | undefined | Promise<Caller | undefined>

/** How an engine is reached over HTTP. */
export interface HttpOptions {
  /**
   * The address at which clients reach the agents, including the path, such as
   * `https://example.com/lull`. Cards contain it.
   */
  readonly url: string
  /**
   * Determines the caller with your own authentication. Events of a caller with `operator` wake
   * tasks of every principal, those of others only their own. Without `caller` every caller is
   * `anonymous` of the tenant `default`. Then `handler` and `fastify` serve only programs on this
   * machine, at a `url` with a loopback address, and `fetch` refuses every request, because a
   * `Request` does not tell which machine it comes from.
   */
  readonly caller?: CallerOf | undefined
  /** Without `caller`: serves every caller from any machine, as `anonymous`. */
  readonly insecure?: boolean | undefined
  /** The largest body in bytes; a larger one is refused with 413. Default 10 MiB. */
  readonly bodyLimitBytes?: number | undefined
  /** Additional host names, and origins of web pages, that may be used. */
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly a2a?: Partial<A2AConfig> | undefined
  /**
   * Serves `/ops`, the dashboard (`/dashboard/`), `/healthz`, `/readyz` and `/metrics` below the path
   * of `url`, too. Operators are callers with `operator`; without `caller`, programs of this machine.
   */
  readonly ops?: boolean | undefined
}

export interface EmbedOptions extends OpenEngineOptions, HttpOptions {}

export type Next = (error?: unknown) => void

export interface Embedded {
  /** Resolves when the engine is open. Requests wait for it. */
  readonly engine: Promise<Engine>
  /** For servers of the web platform: Hono, Next, and others. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Express, Connect and plain Node. `next` is called for requests outside of the path of `url`. */
  readonly handler: (request: IncomingMessage, response: ServerResponse, next?: Next) => void
  /**
   * For Fastify: `app.register(lull.fastify)`. When the server closes, streams end and the engine
   * is closed.
   */
  readonly fastify: (app: FastifyLike) => Promise<void>
  /** Drains and closes the engine. */
  close(): Promise<void>
}

/** The part of a Fastify server that is used. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown
  addHook(name: 'preClose', hook: () => Promise<void>): unknown
  all(
    path: string,
    handler: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): unknown },
    ) => void,
  ): unknown
}

/**
 * A second call with the same store, as after a hot reload, reuses the open engine with the new
 * agents.
 * @throws LullError `INVALID_INPUT` for an invalid `url`
 */
export function embed(options: EmbedOptions): Embedded {
  return handlersOf(options, openOnce(options), options.log ?? createLog(toStderr))
}

/**
 * The same handlers for an engine of `openEngine`. `close` ends what they serve, and leaves the
 * engine open.
 * @throws LullError `INVALID_INPUT` for an invalid `url`
 */
export function embedEngine(open: OpenEngine, options: HttpOptions): Embedded {
  return handlersOf(options, mountOn(open, options), open.deps.log)
}

function handlersOf(options: HttpOptions, open: OpenedOnce, log: Log): Embedded {
  const prefix = new URL(options.url).pathname.replace(/\/+$/, '')
  const answer = createAnswer(options, prefix, open.ready)
  const listener = getRequestListener(
    (request, { incoming }) => answer(request, incoming.socket.remoteAddress),
    { overrideGlobalObjects: false },
  )

  const handler: Embedded['handler'] = (request, response, next) => {
    // The original URL, because Express removes the path at which a handler is mounted.
    const { originalUrl = request.url ?? '/' } = request as { readonly originalUrl?: string }
    if (next !== undefined && !isBelow(originalUrl, prefix)) {
      next()
      return
    }
    request.url = originalUrl
    keepBody(request)
    listener(request, response).catch((error: unknown) => {
      if (next === undefined) response.destroy()
      else next(error)
    })
  }

  const engine = open.ready.then((opened) => opened.engine)
  // Logged here. Requests are also answered with the error, and `engine` rejects.
  engine.catch((error: unknown) => {
    if (!isNextBuild()) log('error', 'the embedded engine could not open', { error })
  })

  return {
    engine,
    // Ignores further arguments, because servers pass some, such as the context of a route.
    fetch: (request) => answer(request, undefined),
    handler,
    async fastify(app) {
      // Turns off Fastify's parsers, because the handler reads the body itself.
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', (_request, _payload, done) => done(null))
      // `preClose`, because Fastify runs other hooks only after all connections have ended, and a
      // stream stays open.
      app.addHook('preClose', open.close)
      for (const path of [prefix === '' ? '/' : prefix, `${prefix}/*`]) {
        app.all(path, ({ raw }, reply) => {
          reply.hijack()
          handler(raw, reply.raw)
        })
      }
    },
    close: open.close,
  }
}

function isBelow(url: string, prefix: string): boolean {
  const [path = ''] = url.split('?')
  return path === prefix || path.startsWith(`${prefix}/`)
}

/** Restores the body if another handler, such as `express.json()`, has already parsed it. */
function keepBody(request: IncomingMessage): void {
  const read = request as IncomingMessage & { body?: unknown; rawBody?: Buffer }
  if (!request.readableEnded || read.body === undefined || read.rawBody !== undefined) return
  const { body } = read
  read.rawBody = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
