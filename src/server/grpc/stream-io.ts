/**
 * Reads requests from and writes answers to a stream of HTTP/2, within the limits of HTTP/1.1 (counted-response.ts, front.ts).
 *
 *  G1  A request ends within 120 s, and is at most as large as a body of HTTP/1.1.
 *  G2  Its bytes count until its answer begins, those of a large answer until they were sent.
 *  G3  A client that reads nothing of its answer for 30 s is disconnected from this stream.
 */
import { constants, type ServerHttp2Stream } from 'node:http2'
import { Code, ConnectError } from '@connectrpc/connect'
import type { UniversalServerResponse } from '@connectrpc/connect/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { Refused } from '../auth/admission.ts'
import type { Account } from '../http/bytes-in-flight.ts'

const REQUEST_MS = 120_000
const STALLED_MS = 30_000
/** Smaller answers are not counted. */
const LARGE_BYTES = 16_384

export type After = Clock['after']

/** @throws ConnectError when the request is too large, too slow or incomplete */
export function readRequest(
  stream: ServerHttp2Stream,
  limit: number,
  account: Account,
  after: After,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (end: () => void): void => {
      cancel()
      stream.removeAllListeners('data')
      end()
    }
    const fail = (error: ConnectError): void => settle(() => reject(error))
    const cancel = after(REQUEST_MS, () =>
      fail(new ConnectError('The request did not end in time', Code.DeadlineExceeded)),
    )
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return fail(tooLarge(limit))
      const refused = account.set(size)
      if (refused !== undefined) return fail(refusalError(refused))
      chunks.push(chunk)
    })
    stream.on('end', () => settle(() => resolve(Buffer.concat(chunks))))
    stream.on('close', () => fail(new ConnectError('The client has gone', Code.Canceled)))
  })
}

/** The request of a method that reads several messages. Each counts only until it was read. */
export async function* readMessages(
  stream: ServerHttp2Stream,
  limit: number,
  after: After,
): AsyncGenerator<Uint8Array, void> {
  const cancel = after(REQUEST_MS, () => stream.close(constants.NGHTTP2_CANCEL))
  let size = 0
  try {
    for await (const chunk of stream) {
      size += (chunk as Buffer).length
      if (size > limit) throw tooLarge(limit)
      yield chunk as Buffer
    }
  } finally {
    cancel()
  }
}

function tooLarge(limit: number): ConnectError {
  return new ConnectError(`The request is larger than ${limit} bytes`, Code.ResourceExhausted)
}

export function refusalError({ limit, value, waitMs }: Refused): ConnectError {
  const code = limit.endsWith('of the server') ? Code.Unavailable : Code.ResourceExhausted
  const seconds = String(Math.ceil((waitMs ?? 1_000) / 1_000))
  const message = `The limit ${limit} (${value}) is reached`
  return new ConnectError(message, code, { 'retry-after': seconds })
}

/** @param sent called for each part that was written */
export async function writeResponse(
  stream: ServerHttp2Stream,
  { status, header, body, trailer }: UniversalServerResponse,
  account: Account,
  after: After,
  sent: () => void,
): Promise<void> {
  const respond = (): void => {
    if (stream.headersSent || stream.destroyed) return
    stream.respond({ ...fieldsOf(header), ':status': status }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(fieldsOf(trailer)))
  }
  for await (const chunk of body ?? []) {
    if (stream.destroyed) return
    const refused = account.set(chunk.length < LARGE_BYTES ? 0 : chunk.length)
    if (refused !== undefined) {
      // The head says that the call succeeded once it was sent.
      if (stream.headersSent) return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      return writeError(stream, refusalError(refused))
    }
    respond()
    sent()
    if (!stream.write(chunk)) await drained(stream, after)
    else account.set(0)
  }
  if (stream.destroyed) return
  respond()
  stream.end()
  await finished(stream, after)
}

function drained(stream: ServerHttp2Stream, after: After): Promise<void> {
  return within(stream, 'drain', after)
}

/** Resolves when the client has taken everything. */
function finished(stream: ServerHttp2Stream, after: After): Promise<void> {
  return stream.destroyed ? Promise.resolve() : within(stream, 'close', after)
}

function within(stream: ServerHttp2Stream, event: 'drain' | 'close', after: After): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(STALLED_MS, () => stream.close(constants.NGHTTP2_CANCEL))
    const settle = (): void => {
      cancel()
      stream.off('drain', settle)
      stream.off('close', settle)
      resolve()
    }
    stream.on(event, settle)
    stream.on('close', settle)
  })
}

/** Answers with the error alone (`Trailers-Only` of gRPC). */
export function writeError(stream: ServerHttp2Stream, error: ConnectError): void {
  if (!stream.destroyed && !stream.headersSent) {
    stream.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc+proto',
        'grpc-status': String(error.code),
        'grpc-message': encodeURI(error.rawMessage),
        ...fieldsOf(error.metadata),
      },
      { endStream: true },
    )
  }
  // Otherwise the rest of the request would use up the window of the connection.
  stream.close(constants.NGHTTP2_NO_ERROR)
}

/**
 * The message of an error is percent-encoded only where it must be. Connect also encodes punctuation, which the official
 * JavaScript client does not decode.
 */
function fieldsOf(headers: Headers | undefined): Record<string, string> {
  const fields: Record<string, string> = Object.fromEntries(headers ?? [])
  const message = fields['grpc-message']
  return message === undefined
    ? fields
    : { ...fields, 'grpc-message': encodeURI(decodeURIComponent(message)) }
}
