/** `node:http` as the protocols see it, without the web platform's requests and responses in between. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressOf, type HttpAnswer, type HttpHeaders, type HttpRequest } from '../wire/http.ts'
import { writeEvents } from './write-events.ts'

/** A class, because one is made for every request: nothing in it is made before it is asked for. */
export class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly body: Uint8Array
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, body: Uint8Array) {
    const { path, search } = addressOf(incoming.url ?? '/')
    this.method = incoming.method ?? 'GET'
    this.path = path
    this.search = search
    this.body = body
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name]
    // Only Set-Cookie is a list, and that is no header of a request.
    return typeof value === 'string' ? value : undefined
  }

  onGone(left: () => void): () => void {
    const outgoing = this.#outgoing
    if (outgoing.destroyed) left()
    outgoing.on('close', left)
    return () => outgoing.off('close', left)
  }
}

export class BodyTooLarge extends Error {}

const NOTHING = Buffer.alloc(0)

/**
 * The whole body. What is beyond the limit is read and thrown away, so that the client gets to see why it was refused.
 * @throws BodyTooLarge, or the error of a connection that broke
 */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> | Buffer {
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers
  if (length === undefined && encoding === undefined) return NOTHING
  if (Number(length ?? 0) > limit) throw new BodyTooLarge()
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
      } else {
        chunks = []
        reject(new BodyTooLarge())
      }
    })
    incoming.on('end', () => {
      const [only = NOTHING] = chunks
      resolve(chunks.length > 1 ? Buffer.concat(chunks, size) : only)
      // The request lives as long as its answer, which may be a stream.
      chunks = []
    })
    incoming.on('error', reject)
  })
}

/** Resolves when it has been handed over; events take as long as they go on. */
export function writeAnswer(outgoing: ServerResponse, answer: HttpAnswer): Promise<void> | void {
  const { status, headers, body } = answer
  if (typeof body === 'object') return writeEvents(outgoing, status, headers, body)
  writeText(outgoing, status, headers, body)
}

export function writeText(
  outgoing: ServerResponse,
  status: number,
  headers: HttpHeaders,
  body: string | undefined,
): void {
  const fields: string[] = []
  for (const name in headers) fields.push(name, headers[name] ?? '')
  if (body !== undefined) fields.push('content-length', String(Buffer.byteLength(body)))
  outgoing.writeHead(status, fields)
  outgoing.end(body)
}
