/**
 * The request listener of the server. It checks host, origin and body size, and routes the request. A2A is answered directly
 * on `node:http`. Other requests go to the application (`app.ts`).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Log } from '../ports/log.ts'
import type { A2A, A2AEnv } from '../protocols/a2a/index.ts'
import type { Admission } from './auth/admission.ts'
import type { Authenticate } from './auth/authenticate.ts'
import { identities } from './auth/identities.ts'
import { callerOf, type Identity, may, noIdentity, owner } from './auth/identity.ts'
import type { RefusedAttempts } from './auth/refused-attempts.ts'
import { isPublic } from './auth/route-scopes.ts'
import { createCors } from './cors.ts'
import { createGuard, hasTwoHosts } from './guard.ts'
import { BodyTooLarge, NodeRequest, type Receiver, receive, writeText } from './node-http.ts'
import { jsonHeaders, refusalText } from './refusals.ts'
import { writeEvents } from './write-events.ts'

export interface FrontOptions {
  readonly a2a: A2A
  readonly app: Hono
  readonly log: Log
  readonly authenticate: Authenticate
  readonly admission: Admission
  readonly refused: RefusedAttempts
  /** The address it listens on. */
  readonly host: string
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly bodyLimitBytes?: number | undefined
}

const challenge = { ...jsonHeaders, 'www-authenticate': 'Bearer realm="lull"' }

const tooMany = { ...jsonHeaders, 'retry-after': '1' }

const BODY_LIMIT_BYTES = 10 * 1024 * 1024

const envs = new WeakMap<Identity, A2AEnv>()

function envOf(identity: Identity): A2AEnv {
  const known = envs.get(identity)
  if (known !== undefined) return known
  const env: A2AEnv = {
    caller: callerOf(identity),
    may: (scope) => may(identity, scope),
    anyTenant: identity.anyTenant,
  }
  envs.set(identity, env)
  return env
}

/** The adapter of the application takes a body that was already read from `rawBody`. */
type Read = IncomingMessage & { rawBody?: Buffer }

export function createFront(options: FrontOptions): RequestListener {
  const { a2a, app, log, authenticate, host, bodyLimitBytes = BODY_LIMIT_BYTES } = options
  const guard = createGuard(options)
  const cors = createCors(options.allowedOrigins)
  const rest = getRequestListener(app.fetch, { hostname: host, overrideGlobalObjects: false })

  async function received(request: NodeRequest): Promise<void> {
    const { incoming, outgoing, path, body } = request
    try {
      const answering = a2a.handle(request, envOf(identities.of(incoming)))
      if (answering === undefined) {
        if (body.length > 0) (incoming as Read).rawBody = body
        await rest(incoming, outgoing)
        noteForbidden(incoming, outgoing.statusCode)
        return
      }
      const answer = await answering
      noteForbidden(incoming, answer.status)
      if (typeof answer.body !== 'object') {
        writeText(outgoing, answer.status, answer.headers, answer.body)
        return
      }
      // Not awaited, so that the request and its body can be collected while the stream is open.
      writeEvents(outgoing, answer.status, answer.headers, answer.body).catch((error: unknown) =>
        failed({ incoming, outgoing, path }, error),
      )
    } catch (error) {
      failed(request, error)
    }
  }

  function noteForbidden(incoming: IncomingMessage, status: number): void {
    if (status === 403) options.refused.ofCaller(incoming, identities.of(incoming))
  }

  function failed(
    request: Pick<NodeRequest, 'incoming' | 'outgoing' | 'path'>,
    error: unknown,
  ): void {
    const { incoming, outgoing } = request
    // The client has disconnected.
    if (outgoing.destroyed) return
    if (error instanceof BodyTooLarge) {
      refuse(outgoing, 413, 'LIMIT_EXCEEDED', `The body is larger than ${bodyLimitBytes} bytes`)
      return
    }
    log('error', 'a request failed', { method: incoming.method, path: request.path, error })
    if (outgoing.headersSent) outgoing.destroy()
    else refuse(outgoing, 500, 'INTERNAL', 'Internal error')
  }

  const receiver: Receiver = { received, failed }

  return (incoming, outgoing) => {
    const { headers } = incoming
    if (hasTwoHosts(incoming)) {
      refuse(outgoing, 400, 'INVALID_INPUT', 'The request has more than one Host header')
      return
    }
    // Only HTTP/1.0 omits the host. Browsers always send it.
    const refused = guard(headers.host ?? host, headers.origin)
    if (refused !== undefined) {
      options.refused.ofStranger(incoming, refused.code)
      refuse(outgoing, 403, refused.code, refused.message)
      return
    }
    if (cors(incoming, outgoing)) return
    const request = new NodeRequest(incoming, outgoing)
    const identity = isPublic(request.method, request.path) ? noIdentity : authenticate(request)
    if (!(identity instanceof Promise)) admit(request, identity)
    else identity.then((one) => admit(request, one)).catch((error) => failed(request, error))
  }

  /** Nothing of the body is read before it is known who sends it. */
  function admit(request: NodeRequest, identity: Identity | undefined): void {
    if (entered(request, identity, options)) receive(request, bodyLimitBytes, receiver)
  }
}

/** False when the request was refused: it has no valid credential, or its sender has reached a limit. */
function entered(
  { incoming, outgoing }: NodeRequest,
  identity: Identity | undefined,
  { admission, refused }: Pick<FrontOptions, 'admission' | 'refused'>,
): boolean {
  if (identity === undefined) {
    refused.ofStranger(incoming, 'UNAUTHENTICATED')
    const text = refusalText('UNAUTHENTICATED', 'This needs a credential: Authorization: Bearer')
    writeText(outgoing, 401, challenge, text)
    return false
  }
  const leave = admission.enter(identity, () => outgoing.destroy())
  if (typeof leave !== 'function') {
    const text = `The limit ${leave.limit} (${leave.value}) is reached`
    writeText(outgoing, 429, tooMany, refusalText('LIMIT_EXCEEDED', text))
    return false
  }
  if (identity !== owner) outgoing.on('close', leave)
  identities.remember(incoming, identity)
  return true
}

function refuse(outgoing: ServerResponse, status: number, code: string, message: string): void {
  writeText(outgoing, status, jsonHeaders, refusalText(code, message))
}
