/**
 * The request listener of the server. It checks host, origin and body size, and routes the request. A2A is answered directly
 * on `node:http`. Other requests go to the application (`app.ts`).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { HttpAnswer } from '../../http/http.ts'
import type { Log } from '../../ports/log.ts'
import type { Meter } from '../../ports/meter.ts'
import type { A2A, A2AEnv } from '../../protocols/a2a/index.ts'
import type { Admission, Refused } from '../auth/admission.ts'
import type { Authenticate } from '../auth/authenticate.ts'
import { identities, isPublic } from '../auth/gate.ts'
import { callerOf, type Identity, may, noIdentity, owner } from '../auth/identity.ts'
import type { RefusedAttempts } from '../auth/refused-attempts.ts'
import { isStreamed } from '../routes/ops-routes.ts'
import { inRequestSpan } from '../telemetry/request-span.ts'
import { healthPaths } from './app.ts'
import type { BytesInFlight } from './bytes-in-flight.ts'
import { type CountedResponse, whenOver } from './counted-response.ts'
import { addressed, createCors, createGuard } from './guard.ts'
import {
  BODY_LIMIT_BYTES,
  BodyRefused,
  BodyTooLarge,
  NodeRequest,
  type Receiver,
  receive,
  writeText,
} from './node-http.ts'
import { jsonHeaders, refusalAbove, refusalParts, refusalText } from './refusals.ts'
import { writeEvents } from './write-events.ts'

export interface FrontOptions {
  readonly a2a: A2A
  readonly app: Hono
  readonly log: Log
  readonly authenticate: Authenticate
  readonly admission: Admission
  readonly refused: RefusedAttempts
  /** The address on which the server listens. */
  readonly host: string
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly bodyLimitBytes?: number | undefined
  readonly inFlight: BytesInFlight
  readonly meter: Pick<Meter, 'add'>
}

const challenge = { ...jsonHeaders, 'www-authenticate': 'Bearer realm="lull"' }
/** The challenge for a credential that is not valid (RFC 6750, section 3.1). */
const wrongChallenge = {
  ...jsonHeaders,
  'www-authenticate': 'Bearer realm="lull", error="invalid_token"',
}
const MISSING = 'This needs a credential: Authorization: Bearer'
const WRONG = 'The credential is wrong: no valid key or token. It may have expired or been revoked'

const envs = new WeakMap<Identity, A2AEnv>()

export function envOf(identity: Identity): A2AEnv {
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

/** Hono's adapter for Node uses `rawBody` if the body was already read. */
type Read = IncomingMessage & { rawBody?: Buffer }

/** The request listener. Bytes of its responses are counted. */
export type Front = RequestListener<typeof IncomingMessage, typeof CountedResponse>

export function createFront(options: FrontOptions): Front {
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
      // Not awaited, so that the request and its body can be garbage-collected while the stream is
      // open.
      writeAnswer(outgoing, answer)?.catch((error: unknown) =>
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
    // Nobody to answer: the client has disconnected.
    if (outgoing.destroyed) return
    if (refuseBody(outgoing, error)) return
    const { status, headers, text } = refusalParts(error)
    if (status === 500) {
      log('error', 'a request failed', { method: incoming.method, path: request.path, error })
    }
    if (outgoing.headersSent) outgoing.destroy()
    else writeText(outgoing, status, headers, text)
  }

  const receiver: Receiver = { received: inRequestSpan(received), failed }

  return (incoming, outgoing) => {
    const { headers } = incoming
    const to = addressed(incoming, host)
    if (to.problem !== undefined) {
      refuse(outgoing, 400, 'INVALID_INPUT', to.problem)
      return
    }
    const refused = guard(to.host, headers.origin)
    if (refused !== undefined) {
      options.refused.ofStranger(incoming, refused.code)
      options.meter.add(REFUSED, 1, refused.code)
      refuse(outgoing, 403, refused.code, refused.message)
      return
    }
    if (cors(incoming, outgoing)) return
    const request = new NodeRequest(incoming, outgoing)
    const identity = isPublic(request.method, request.path) ? noIdentity : authenticate(request)
    if (!(identity instanceof Promise)) admit(request, identity)
    else identity.then((one) => admit(request, one)).catch((error) => failed(request, error))
  }

  /** Decides about a request by its identity, before anything of the body is read. */
  function admit(request: NodeRequest, identity: Identity | undefined): void {
    if (!entered(request, identity, options)) return
    // The route reads the body as a stream, with its own limits.
    const { method, path } = request
    if (isStreamed(method, path, request.header('content-type'))) receiver.received(request)
    // Public routes take no body, so the limit for callers without a credential is 0.
    else receive(request, identity === noIdentity ? 0 : bodyLimitBytes, receiver)
  }
}

/**
 * Writes an answer.
 * @returns a promise if it is a stream
 */
function writeAnswer(
  outgoing: ServerResponse,
  { status, headers, body }: HttpAnswer,
): Promise<void> | undefined {
  if (typeof body === 'object') return writeEvents(outgoing, status, headers, body)
  writeText(outgoing, status, headers, body)
  return undefined
}

export const REFUSED = 'lull_requests_refused_total'

/** False if the request was refused, because it has no valid credential or a limit was reached. */
function entered(
  { incoming, outgoing, path }: NodeRequest,
  identity: Identity | undefined,
  {
    admission,
    inFlight,
    refused,
    meter,
  }: Pick<FrontOptions, 'admission' | 'inFlight' | 'refused' | 'meter'>,
): boolean {
  if (identity === undefined) {
    refused.ofStranger(incoming, 'UNAUTHENTICATED')
    meter.add(REFUSED, 1, 'UNAUTHENTICATED')
    const shown = incoming.headers.authorization !== undefined
    const text = refusalText('UNAUTHENTICATED', shown ? WRONG : MISSING)
    writeText(outgoing, 401, shown ? wrongChallenge : challenge, text)
    return false
  }
  // Health checks are exempt from limits, so that a supervisor gets an answer even while others use
  // up the limits of callers without a credential.
  outgoing.countFor(inFlight.account(identity))
  if (identity === noIdentity && healthPaths.has(path)) {
    identities.remember(incoming, identity)
    return true
  }
  const leave = admission.enter(identity, () => outgoing.destroy())
  if (typeof leave !== 'function') {
    meter.add(REFUSED, 1, leave.limit)
    refuseAbove(outgoing, leave)
    return false
  }
  if (identity !== owner) whenOver(outgoing, leave)
  identities.remember(incoming, identity)
  return true
}

/** Answers errors about the request body. False for any other error. */
function refuseBody(outgoing: ServerResponse, error: unknown): boolean {
  if (error instanceof BodyTooLarge) {
    refuse(outgoing, 413, 'LIMIT_EXCEEDED', `The body is larger than ${error.limit} bytes`)
  } else if (error instanceof BodyRefused) refuseAbove(outgoing, error.refused)
  else return false
  return true
}

function refuseAbove(outgoing: ServerResponse, refused: Refused): void {
  const { status, headers, text } = refusalAbove(refused)
  writeText(outgoing, status, headers, text)
}

function refuse(outgoing: ServerResponse, status: number, code: string, message: string): void {
  writeText(outgoing, status, jsonHeaders, refusalText(code, message))
}
