/**
 * Represents `node:http` requests as `HttpRequest`, without the request and response types of the
 * web platform.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Address, addressOf, type HttpHeaders, type HttpRequest } from '../../http/http.ts'
import type { Refused } from '../auth/admission.ts'
import { nameRequestSpan } from '../telemetry/request-span.ts'
import { type CountedResponse, whenOver } from './counted-response.ts'

/** The largest body, unless configured otherwise. */
export const BODY_LIMIT_BYTES: number = 10 * 1024 * 1024

const NOTHING = Buffer.alloc(0)

/**
 * Matches parts of a path that a URL parser would change: dot segments (also escaped), backslashes
 * and white space.
 */
const notNormal = /\/\.|%2e|[\\\t\n\r]/i

/**
 * Normalises the path of a request, so that the parts that check access and those that route see
 * the same path. Some of them read it from the request again, so it is replaced there too.
 */
function oneAddress(incoming: IncomingMessage): Address {
  const given = addressOf(incoming.url ?? '/')
  if (!notNormal.test(given.path)) return given
  const { pathname } = new URL(`http://lull${given.path}`)
  incoming.url = `${pathname}${given.search}`
  return { path: pathname, search: given.search }
}

/**
 * A class, because one is created per request and its methods are shared. Headers are read on
 * demand.
 */
export class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly incoming: IncomingMessage
  readonly outgoing: CountedResponse
  /** Empty until the body was read. */
  body: Buffer = NOTHING

  constructor(incoming: IncomingMessage, outgoing: CountedResponse) {
    const { path, search } = oneAddress(incoming)
    this.method = incoming.method ?? 'GET'
    this.path = path
    this.search = search
    this.incoming = incoming
    this.outgoing = outgoing
  }

  header(name: string): string | undefined {
    const value = this.incoming.headers[name]
    // Node returns a list only for Set-Cookie, which is not a request header.
    return typeof value === 'string' ? value : undefined
  }

  all(name: string): readonly string[] {
    return this.incoming.headersDistinct[name] ?? []
  }

  get peer(): string | undefined {
    return this.incoming.socket.remoteAddress
  }

  calls(method: string): void {
    nameRequestSpan(method)
  }

  onGone(left: () => void): () => void {
    return whenOver(this.outgoing, left)
  }
}

export class BodyTooLarge extends Error {
  /** The limit in bytes. */
  readonly limit: number

  constructor(limit: number) {
    super(`larger than ${limit} bytes`)
    this.limit = limit
  }
}

/** Thrown when a limit of the caller or of the server was reached while the body was read. */
export class BodyRefused extends Error {
  readonly refused: Refused

  constructor(refused: Refused) {
    super(refused.limit)
    this.refused = refused
  }
}

/**
 * What happens with a request after its body was read. One receiver serves all requests, so that no
 * promises or closures are allocated per request.
 */
export interface Receiver {
  /** Called when the whole body was read. */
  received(request: NodeRequest): void
  /**
   * Called when the body is too large (`BodyTooLarge`) or was refused, or when the connection
   * broke.
   */
  failed(request: NodeRequest, error: unknown): void
}

/**
 * Reads the body. Bytes beyond the limit are read and discarded, so that the client gets to read
 * the refusal.
 */
export function receive(request: NodeRequest, limit: number, receiver: Receiver): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.incoming.headers
  if (length === undefined && encoding === undefined) receiver.received(request)
  else if (Number(length ?? 0) > limit) receiver.failed(request, new BodyTooLarge(limit))
  // By the next tick the parser has delivered the part of the body that came with the head, usually
  // all of it.
  else process.nextTick(take, request, limit, receiver)
}

function take(request: NodeRequest, limit: number, receiver: Receiver): void {
  const { incoming } = request
  const first: Buffer | null = incoming.read()
  if (first !== null && first.length === Number(incoming.headers['content-length'])) {
    request.body = first
    receiver.received(request)
    return
  }
  collect(request, first ?? NOTHING, limit).then(
    (body) => {
      request.body = body
      receiver.received(request)
    },
    (error) => receiver.failed(request, error),
  )
}

function collect(
  { incoming, outgoing }: NodeRequest,
  first: Buffer,
  limit: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    let refused: Refused | undefined
    const add = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit) refused ??= outgoing.holdBody(chunk.length)
      if (size <= limit && refused === undefined) {
        chunks.push(chunk)
      } else {
        chunks = []
        reject(refused === undefined ? new BodyTooLarge(limit) : new BodyRefused(refused))
      }
    }
    add(first)
    incoming.on('data', add)
    incoming.on('end', () => {
      resolve(Buffer.concat(chunks))
      // The request lives as long as its answer, which may be a stream, and the listeners would
      // keep the body in memory.
      incoming.removeAllListeners()
    })
    incoming.on('error', reject)
  })
}

export function writeText(
  outgoing: ServerResponse,
  status: number,
  headers: HttpHeaders,
  body: string | undefined,
): void {
  const fields: string[] = []
  for (const name in headers) fields.push(name, headers[name] ?? '')
  if (body !== undefined) {
    const size = Buffer.byteLength(body)
    fields.push('content-length', String(size))
    outgoing.writeHead(status, fields)
    // Corked, so that head and body are written together. `end(body)` would be slower and add an
    // empty write.
    outgoing.cork()
    // ASCII text has the same bytes in Latin-1, which is copied without encoding each character.
    outgoing.write(body, size === body.length ? 'latin1' : 'utf8')
    outgoing.uncork()
  } else {
    outgoing.writeHead(status, fields)
  }
  outgoing.end()
}
