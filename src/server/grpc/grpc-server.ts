/**
 * gRPC on the port of the server: connections of HTTP/2, whose calls pass the same checks as requests of HTTP/1.1 (`http/front.ts`):
 * host and origin, identity, admission, bytes in flight. Health and reflection are public and bounded like other public routes.
 */
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import {
  Code,
  ConnectError,
  type ContextValues,
  createConnectRouter,
  createContextValues,
} from '@connectrpc/connect'
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Meter } from '../../ports/meter.ts'
import { problemOfMessage } from '../../protocols/a2a/grpc/message-cost.ts'
import { addA2AServices, grpcExchange } from '../../protocols/a2a/grpc/services.ts'
import type { A2A } from '../../protocols/a2a/index.ts'
import { A2A_SERVICE, RECURSION_LIMIT, TASK_CONTROL_SERVICE } from '../../wire/grpc/messages.ts'
import type { Admission } from '../auth/admission.ts'
import type { Authenticate, AuthRequest } from '../auth/authenticate.ts'
import { type Identity, noIdentity, owner } from '../auth/identity.ts'
import type { RefusedAttempts } from '../auth/refused-attempts.ts'
import type { Account, BytesInFlight } from '../http/bytes-in-flight.ts'
import { envOf, REFUSED } from '../http/front.ts'
import { createGuard, type GuardOptions, repeatedHeader } from '../http/guard.ts'
import { BODY_LIMIT_BYTES } from '../http/node-http.ts'
import { refusalText } from '../http/refusals.ts'
import { inCallSpan } from '../telemetry/request-span.ts'
import { addHealth } from './health.ts'
import { addReflection } from './reflection.ts'
import { createSessions } from './sessions.ts'
import { readMessages, readRequest, refusalError, writeError, writeResponse } from './stream-io.ts'

export interface GrpcOptions extends GuardOptions {
  readonly a2a: Pick<A2A, 'call'>
  readonly authenticate: Authenticate
  readonly admission: Pick<Admission, 'enter'>
  readonly inFlight: BytesInFlight
  readonly refused: RefusedAttempts
  readonly log: Log
  readonly meter: Pick<Meter, 'add'>
  readonly clock: Pick<Clock, 'elapsed' | 'after'>
  readonly bodyLimitBytes?: number | undefined
  readonly isReady: () => Promise<boolean>
}

export interface GrpcServer {
  take(socket: Socket): void
  /** Lets open calls end, and then closes their connections. */
  drain(): void
  cut(): void
}

type StreamEvent = [
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
]

/** The largest request of a caller without a credential. */
const PUBLIC_BYTES = 4_096
/** The most calls that a connection may have open. */
const STREAMS = 100
const HEAD_BYTES = 16_384
const SESSION_MIB = 10

interface GrpcCall {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly handler: UniversalHandler
  readonly account: Account
  readonly identity: Identity
}

export function createGrpcServer(options: GrpcOptions): GrpcServer {
  const { admission, inFlight, refused, log, meter, clock } = options
  const { bodyLimitBytes = BODY_LIMIT_BYTES } = options
  const { after } = clock
  const guard = createGuard(options)
  const handlers = handlersOf(options)
  const sessions = createSessions(clock)
  const server = createServer({
    maxSessionMemory: SESSION_MIB,
    settings: { maxConcurrentStreams: STREAMS, maxHeaderListSize: HEAD_BYTES, enablePush: false },
  })
  let accepted: Socket | undefined
  // Emitted while the connection is handed over.
  server.on('session', (session) => {
    if (accepted !== undefined) sessions.add(session, accepted)
  })
  server.on('stream', (...[stream, headers, , rawHeaders]: StreamEvent) => {
    // A stream that is reset emits an error, and without a listener that would end the process.
    stream.on('error', () => undefined)
    answer(stream, headers, rawHeaders).catch((error: unknown) => {
      if (!(error instanceof ConnectError)) log('error', 'a gRPC call failed', { error })
      writeError(stream, ConnectError.from(error, Code.Internal))
    })
  })

  /** @throws ConnectError when the call is refused */
  async function answer(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): Promise<void> {
    if (!isGrpc(headers)) return refuseHttp(stream)
    const { session } = stream
    if (session !== undefined) {
      const over = sessions.opened(session)
      stream.on('close', () => over(stream.rstCode === constants.NGHTTP2_CANCEL))
    }
    checkAddress(stream, headers, rawHeaders)
    const handler = handlers.get(headers[':path'] ?? '')
    if (handler === undefined) throw new ConnectError('Unknown method', Code.Unimplemented)
    const identity = await identityOf(stream, headers, rawHeaders, handler)
    const account = inFlight.account(identity)
    stream.on('close', () => account.set(0))
    const leave = admission.enter(identity, () => stream.close(constants.NGHTTP2_CANCEL))
    if (typeof leave !== 'function') {
      meter.add(REFUSED, 1, leave.limit)
      throw refusalError(leave)
    }
    if (stream.destroyed) return leave()
    if (identity !== owner) stream.on('close', leave)
    await inCallSpan({ path: handler.requestPath, headers, stream }, () =>
      serve({ stream, headers, rawHeaders, handler, account, identity }),
    )
  }

  function checkAddress(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): void {
    const repeated = repeatedHeader({ rawHeaders })
    if (repeated !== undefined) {
      throw new ConnectError(
        `The request has more than one ${repeated} header`,
        Code.InvalidArgument,
      )
    }
    const host = headers[':authority'] ?? headers.host ?? options.host
    const refusal = guard(host, headers.origin)
    if (refusal === undefined) return
    refused.ofStranger(requestOf(stream, headers), refusal.code)
    meter.add(REFUSED, 1, refusal.code)
    throw new ConnectError(refusal.message, Code.PermissionDenied)
  }

  async function identityOf(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    { service }: UniversalHandler,
  ): Promise<Identity> {
    if (!needsIdentity.has(service.typeName)) return noIdentity
    const identity = await options.authenticate(authRequestOf(stream, headers, rawHeaders))
    if (identity !== undefined) return identity
    refused.ofStranger(requestOf(stream, headers), 'UNAUTHENTICATED')
    meter.add(REFUSED, 1, 'UNAUTHENTICATED')
    throw new ConnectError('This needs a credential: authorization: Bearer', Code.Unauthenticated)
  }

  async function serve(call: GrpcCall): Promise<void> {
    const { stream, headers, handler, account, identity } = call
    const { session } = stream
    const isPublic = identity === noIdentity
    const limit = isPublic ? PUBLIC_BYTES : bodyLimitBytes
    const isUnary = handler.method.methodKind !== 'bidi_streaming'
    const body = isUnary
      ? once(await checkedRequest(call, limit))
      : readMessages(stream, limit, after)
    const response = await handler({ ...universalRequest(call), body })
    // The request counts until the answer begins.
    account.set(0)
    await writeResponse(stream, response, account, after, () => {
      if (session !== undefined) sessions.sent(session)
    })
    if (response.trailer?.get('grpc-status') === String(Code.PermissionDenied)) {
      refused.ofCaller(requestOf(stream, headers), identity)
    }
  }

  /** The whole request, with at most as much content as JSON may have. */
  async function checkedRequest(
    { stream, account, handler }: GrpcCall,
    limit: number,
  ): Promise<Uint8Array> {
    const bytes = await readRequest(stream, limit, account, after)
    const problem = problemOfMessage(handler.method.input, bytes.subarray(PREFIX_BYTES))
    if (problem !== undefined) throw new ConnectError(problem, Code.InvalidArgument)
    return bytes
  }

  return {
    take(socket) {
      accepted = socket
      server.emit('connection', socket)
      accepted = undefined
    },
    drain: sessions.drain,
    cut() {
      sessions.cut()
      sessions.close()
    },
  }
}

const needsIdentity: ReadonlySet<string> = new Set([A2A_SERVICE, TASK_CONTROL_SERVICE])

/** The flag of compression and the length, before each message. */
const PREFIX_BYTES = 5

function handlersOf({
  a2a,
  clock,
  isReady,
  bodyLimitBytes = BODY_LIMIT_BYTES,
}: GrpcOptions): ReadonlyMap<string, UniversalHandler> {
  const router = createConnectRouter({
    connect: false,
    grpcWeb: false,
    // As over HTTP/1.1, a few compressed bytes must not become megabytes.
    acceptCompression: [],
    readMaxBytes: bodyLimitBytes,
    binaryOptions: { readUnknownFields: false, recursionLimit: RECURSION_LIMIT },
  })
  addA2AServices(router, a2a.call)
  addHealth(router, { isReady, after: clock.after })
  addReflection(router)
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]))
}

/** JSON as content of gRPC would be a second way to read requests. */
function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'] ?? ''
  return headers[':method'] === 'POST' && /^application\/grpc(?:\+proto)?$/.test(type)
}

/** Browsers and curl come here only if they were told to speak HTTP/2 to an address without TLS. */
function refuseHttp(stream: ServerHttp2Stream): void {
  const text = refusalText('UNSUPPORTED_MEDIA_TYPE', 'HTTP/2 is only for gRPC here. Use HTTP/1.1.')
  stream.respond({ ':status': 415, 'content-type': 'application/json' })
  stream.end(text)
  stream.resume()
}

function requestOf({ session }: ServerHttp2Stream, headers: IncomingHttpHeaders) {
  const { remoteAddress } = session?.socket ?? {}
  return { method: 'POST', url: headers[':path'], headers, socket: { remoteAddress } }
}

function authRequestOf(
  { session }: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): AuthRequest {
  return {
    method: 'POST',
    path: headers[':path'] ?? '/',
    header: (name) => headerOf(headers, name),
    all: (name) =>
      rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name),
    peer: session?.socket.remoteAddress,
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

function universalRequest({
  stream,
  headers,
  identity,
}: GrpcCall): Omit<UniversalServerRequest, 'body'> {
  const gone = new AbortController()
  stream.on('close', () => gone.abort())
  const fields = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return {
    httpVersion: '2.0',
    method: 'POST',
    url: `http://lull${headers[':path']}`,
    header: new Headers(fields.map(([name, value]) => [name, String(value)])),
    signal: gone.signal,
    contextValues: valuesOf(identity, headers),
  }
}

function valuesOf(identity: Identity, headers: IncomingHttpHeaders): ContextValues {
  return createContextValues().set(grpcExchange, {
    env: envOf(identity),
    header: (name) => headerOf(headers, name),
  })
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes
}
