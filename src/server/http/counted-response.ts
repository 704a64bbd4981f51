/**
 * The response class of the server, used by every route and protocol. The bytes of responses in
 * memory are counted here, below all routes, so that no route can omit it.
 *
 * F2  The body of the request counts until its answer begins. An answer of 16 KiB or more counts
 *     until it was sent or its connection is gone. The part of a stream that was sent no longer
 *     counts.
 * F3  An answer that would exceed a limit is replaced by a refusal. If its head was already sent,
 *     the connection is closed.
 * F4  A client that reads nothing of its answer for 30 s is disconnected.
 *
 * The head is held back until the first bytes of the body, because only then is it known whether
 * the answer is refused.
 */

import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import type { Refused } from '../auth/admission.ts'
import type { Account } from './bytes-in-flight.ts'
import { refusalAbove } from './refusals.ts'

/** A client that reads nothing of its answer for this long is disconnected. */
const STALLED_MS = 30_000
/** Smaller answers are not counted. */
const LARGE_BYTES = 16_384

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[]

interface Head {
  readonly status: number
  readonly message: string | Fields | undefined
  readonly fields: Fields | undefined
}

export class CountedResponse<
  R extends IncomingMessage = IncomingMessage,
> extends ServerResponse<R> {
  private account: Account | undefined
  private head: Head | undefined
  private held = 0
  /** Whether the head was created, by this class or by Node. */
  private begun = false
  private refused = false
  private followed = false

  /** Sets the caller for whom the response counts. */
  countFor(account: Account): void {
    this.account = account
  }

  /**
   * Counts a chunk of the request body.
   * @returns the limit that was reached, if any
   */
  holdBody(bytes: number): Refused | undefined {
    return this.hold(this.held + bytes)
  }

  override writeHead(status: number, message?: string | Fields, fields?: Fields): this {
    if (this.begun) return this.makeHead({ status, message, fields })
    this.statusCode = status
    this.head = { status, message, fields }
    return this
  }

  override flushHeaders(): void {
    this.free()
    this.begin()
    super.flushHeaders()
  }

  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    if (!this.mayAdd(sizeOf(chunk))) return false
    this.begin()
    const isTaken = super.write(chunk, encoding as BufferEncoding, callback as () => void)
    if (isTaken) this.free()
    else this.follow()
    return isTaken
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (!this.mayAdd(sizeOf(chunk))) return this
    this.begin()
    super.end(chunk, encoding as BufferEncoding, callback as () => void)
    if (this.writableLength >= LARGE_BYTES) this.follow()
    return this
  }

  private begin(): void {
    if (this.begun) return
    this.begun = true
    if (this.head !== undefined) this.makeHead(this.head)
  }

  private makeHead({ status, message, fields }: Head): this {
    if (typeof message === 'string') return super.writeHead(status, message, fields)
    return super.writeHead(status, message ?? fields)
  }

  /** False if these bytes, or the answer before them, were refused. */
  private mayAdd(bytes: number): boolean {
    if (this.refused) return false
    const pending = this.writableLength + bytes
    if (pending < LARGE_BYTES && this.held === 0) return true
    const refused = this.hold(pending < LARGE_BYTES ? 0 : pending)
    if (refused !== undefined) this.refuse(refused)
    return refused === undefined
  }

  private refuse(refused: Refused): void {
    this.refused = true
    if (this.headersSent) return void this.destroy()
    const { status, headers, text } = refusalAbove(refused)
    this.begun = true
    super.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    super.end(text)
  }

  private hold(bytes: number): Refused | undefined {
    if (isOver(this)) return undefined
    const refused = this.account?.set(bytes)
    if (refused !== undefined) return refused
    this.held = bytes
    if (bytes > 0) this.follow()
    return undefined
  }

  private free(): void {
    if (this.held > 0) this.account?.set(0)
    this.held = 0
  }

  /** Updates the count until the client has read everything, or reads nothing for too long. */
  private follow(): void {
    if (this.followed) return
    this.followed = true
    const free = (): void => this.free()
    this.on('drain', free)
    whenOver(this, free)
    this.setTimeout(STALLED_MS, () => {
      if (this.writableLength > 0) this.destroy()
    })
  }
}

/** Text is counted by its characters, because most of it is ASCII. */
function sizeOf(chunk: unknown): number {
  return typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk.length : 0
}

/** Whether nothing more of the response will be sent. */
function isOver({ destroyed, req }: ServerResponse): boolean {
  return destroyed || req.socket.destroyed
}

/**
 * Calls `over` once, when the response was sent or its connection is gone. If it is already gone,
 * calls it at once, because no event would follow. Also listens on the socket, because a response
 * that is queued behind another one on its connection gets no `close` event.
 * @returns a function that stops listening
 */
export function whenOver(outgoing: ServerResponse, over: () => void): () => void {
  const { socket } = outgoing.req
  const forget = (): void => {
    outgoing.off('close', once)
    socket.off('close', once)
  }
  const once = (): void => {
    forget()
    over()
  }
  if (isOver(outgoing)) {
    over()
    return forget
  }
  // Many responses may be queued on one socket.
  socket.setMaxListeners(0)
  outgoing.on('close', once)
  socket.on('close', once)
  return forget
}
