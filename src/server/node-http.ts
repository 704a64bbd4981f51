/** `node:http` as the protocols see it, without the web platform's requests and responses in between. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressOf, type HttpHeaders, type HttpRequest } from '../wire/http.ts'

const NOTHING = Buffer.alloc(0)

/** A class, because one is made for every request: nothing in it is made before it is asked for. */
export class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Empty until it has been received. */
  body: Buffer = NOTHING

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { path, search } = addressOf(incoming.url ?? '/')
    this.method = incoming.method ?? 'GET'
    this.path = path
    this.search = search
    this.incoming = incoming
    this.outgoing = outgoing
  }

  header(name: string): string | undefined {
    const value = this.incoming.headers[name]
    // Only Set-Cookie is a list, and that is no header of a request.
    return typeof value === 'string' ? value : undefined
  }

  onGone(left: () => void): () => void {
    const { outgoing } = this
    if (outgoing.destroyed) left()
    outgoing.on('close', left)
    return () => outgoing.off('close', left)
  }
}

export class BodyTooLarge extends Error {}

/** Who goes on with a request. The same for all of them, so that none needs a promise or a function of its own. */
export interface Receiver {
  /** The whole body, if it has one, is there. */
  received(request: NodeRequest): void
  /** It is larger than allowed (`BodyTooLarge`), or the connection broke. */
  failed(request: NodeRequest, error: unknown): void
}

/** Reads the body. What is beyond the limit is read and thrown away, so that the client gets to see why it was refused. */
export function receive(request: NodeRequest, limit: number, receiver: Receiver): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.incoming.headers
  if (length === undefined && encoding === undefined) receiver.received(request)
  else if (Number(length ?? 0) > limit) receiver.failed(request, new BodyTooLarge())
  // By then the parser has handed over what came in one piece with the head, which is nearly always all of it.
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
  collect(incoming, first ?? NOTHING, limit).then(
    (body) => {
      request.body = body
      receiver.received(request)
    },
    (error) => receiver.failed(request, error),
  )
}

function collect(incoming: IncomingMessage, first: Buffer, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const add = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
      } else {
        chunks = []
        reject(new BodyTooLarge())
      }
    }
    add(first)
    incoming.on('data', add)
    incoming.on('end', () => {
      resolve(Buffer.concat(chunks))
      // The request lives as long as its answer, which may be a stream: nothing of this is to stay with it.
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
    // Head and body leave as one text. `end(body)` would send an empty one after it, and both by way of a slower call.
    outgoing.cork()
    // ASCII, which nearly all of it is, is the same in Latin-1, where it is copied and not looked at byte by byte.
    outgoing.write(body, size === body.length ? 'latin1' : 'utf8')
    outgoing.uncork()
  } else {
    outgoing.writeHead(status, fields)
  }
  outgoing.end()
}
