/**
 * Turns a WebSocket into the stream of a connection, and bounds how much memory and work one client
 * can cause.
 *
 * Z1  A request counts for the limits of its caller until it is answered. If a limit refuses it,
 *     the answer names the limit. If it only comes too early, it waits, so that no message of a
 *     burst is lost.
 * Z2  The socket is not read while 32 requests are unanswered, while the client has not taken 256
 *     KiB of output, or while a message waits. Requests that wait for a task or for a person do not
 *     count, because their end may depend on the next message.
 * Z3  Waiting messages, messages of open requests and output count together as memory of the
 *     caller. What exceeds the limit is refused. If there is no request to answer with an error,
 *     the socket is closed (1013).
 * Z4  At most one message per socket is processed in a turn of the event loop.
 */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { toRequestError } from '../connection/faults.ts'
import { inbound } from '../names.ts'
import {
  INVALID_REQUEST,
  keyOfId,
  readMessage,
  type SocketMessage,
  textOf,
} from './socket-message.ts'
import type { Turns } from './turns.ts'

/** A socket of `ws`, or a compatible one. */
export interface AcpSocket {
  /** Bytes that were sent and not yet taken by the client. */
  readonly bufferedAmount?: number
  /** @param taken called when the client has taken the data, or is gone */
  send(data: string, taken?: () => void): void
  close(code?: number, reason?: string): void
  on(type: string, listener: (...args: unknown[]) => void): unknown
  /** Stops reading. Even without this method, the bytes in memory are limited. */
  pause?(): void
  resume?(): void
}

/** A limit that was reached. */
export interface ReachedLimit {
  readonly limit: string
  readonly value: number
  /** How long to wait before trying again. Absent: waiting does not help. */
  readonly waitMs?: number
}

/** The limits of the caller of a socket. */
export interface SocketLimits {
  /**
   * Called when a request begins.
   * @returns a function to call once when it has ended, or the limit that was reached
   */
  enter(): (() => void) | ReachedLimit
  /** Called for a message that needs no answer. */
  take(): ReachedLimit | undefined
  /** Sets how many bytes the socket has in memory. If a limit is reached, nothing changes. */
  hold(bytes: number): ReachedLimit | undefined
}

export const noLimits: SocketLimits = {
  enter: () => () => undefined,
  take: () => undefined,
  hold: () => undefined,
}

export interface SocketStreamDeps extends Pick<EngineDeps, 'clock'> {
  readonly turns: Turns
  readonly limits: SocketLimits
}

const UNANSWERED = 32
/** Reading stops while more output than this waits for the client. */
const BEHIND_BYTES = 262_144
/** A socket with less in memory is not counted. */
const LARGE_BYTES = 65_536
/** The approximate memory of a message beside its text. */
const MESSAGE_BYTES = 1_024
/** The time between attempts, because many sockets of a caller may wait for the same limit. */
const WAIT_MS = 50
/** The most messages that wait before the socket is paused. */
const WAITING = 16

/** WebSocket close codes. */
const GOING_AWAY = 1001
const PROTOCOL_ERROR = 1002
const NOT_TEXT = 1003
const TOO_BIG = 1009
const FAILED = 1011
const TRY_LATER = 1013

const waitsForTask: ReadonlySet<string> = new Set([
  'session/prompt',
  ...inbound.suspend,
  ...inbound.steer,
])

interface Waiting {
  readonly text: string
  readonly bytes: number
  read?: SocketMessage
}

interface OpenRequest {
  readonly bytes: number
  readonly isBrief: boolean
  readonly leave: () => void
}

export function socketStream(
  socket: AcpSocket,
  { clock, turns, limits }: SocketStreamDeps,
): Stream {
  /** In phase `new` only `initialize` is accepted. */
  let phase: 'new' | 'initialized' | 'closed' = 'new'
  const waiting: Waiting[] = []
  const open = new Map<string, OpenRequest>()
  let brief = 0
  let inputBytes = 0
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined
  let hasTurn = false
  let isPaused = false
  let cancelWait: (() => void) | undefined
  let outputTaken: (() => void) | undefined

  const unsent = (): number => socket.bufferedAmount ?? 0
  const isClosed = (): boolean => phase === 'closed'

  function count(): ReachedLimit | undefined {
    const bytes = inputBytes + unsent()
    return limits.hold(isClosed() || bytes < LARGE_BYTES ? 0 : bytes)
  }

  /** Whether no message may be processed for now. */
  function isStopped(): boolean {
    return brief >= UNANSWERED || unsent() > BEHIND_BYTES || cancelWait !== undefined
  }

  /**
   * Called after every change: pauses or resumes reading, and asks for a turn if there is a message
   * to process.
   */
  function goOn(): void {
    if (isClosed()) return
    const stopped = isStopped()
    if (!isPaused && (stopped || waiting.length >= WAITING)) {
      isPaused = true
      socket.pause?.()
    } else if (isPaused && !stopped && waiting.length === 0) {
      isPaused = false
      socket.resume?.()
    }
    if (hasTurn || stopped || waiting.length === 0 || (controller?.desiredSize ?? 0) <= 0) return
    hasTurn = true
    turns(handOnNext)
  }

  function received(data: unknown, isBinary: unknown): void {
    if (isClosed()) return
    const text = isBinary === true ? undefined : textOf(data)
    if (text === undefined) {
      end(NOT_TEXT, 'A message must be a text')
      return
    }
    const bytes = text.length + MESSAGE_BYTES
    inputBytes += bytes
    const reached = count()
    if (reached === undefined) {
      waiting.push({ text, bytes })
    } else {
      inputBytes -= bytes
      refuseUnread(text, reached)
    }
    goOn()
  }

  function refuseUnread(text: string, reached: ReachedLimit): void {
    const read = readMessage(text)
    if (read.kind === 'request') refuse(read, reached)
    else end(TRY_LATER, wordsOf(reached))
  }

  function handOnNext(): number {
    hasTurn = false
    const [first] = waiting
    if (isClosed() || first === undefined || isStopped()) return 0
    first.read ??= readMessage(first.text)
    if (handOn(first.read, first.bytes) && !isClosed()) {
      waiting.shift()
      inputBytes -= first.bytes
      count()
    }
    goOn()
    return first.bytes
  }

  /** Processes a message. False if it has to wait. */
  function handOn(read: SocketMessage, bytes: number): boolean {
    if (read.kind === 'too-costly') {
      end(TOO_BIG, 'The message has too many values')
    } else if (read.kind === 'request') {
      return handOnRequest(read, bytes)
    } else {
      const reached = limits.take()
      if (reached !== undefined) return mustWait(reached)
      if (read.kind === 'invalid') answerInvalid(null, read.problem, read.code)
      else if (phase === 'new') end(PROTOCOL_ERROR, 'First message must be initialize')
      else controller?.enqueue(read.message)
    }
    return true
  }

  function handOnRequest(
    read: Extract<SocketMessage, { kind: 'request' }>,
    bytes: number,
  ): boolean {
    const { id, method, message } = read
    const isFirst = method === 'initialize'
    if (phase === 'new' && !isFirst) {
      end(PROTOCOL_ERROR, 'First message must be initialize')
      return true
    }
    const entered = limits.enter()
    if (typeof entered !== 'function') {
      if (entered.waitMs !== undefined) return mustWait(entered)
      refuse(read, entered)
      return true
    }
    if (open.has(id) || (isFirst && phase !== 'new')) {
      entered()
      const problem = isFirst
        ? 'Initialize not allowed on existing connection'
        : 'A request with this id is open'
      answerInvalid(JSON.parse(id) as string | number, problem)
      return true
    }
    phase = 'initialized'
    const isBrief = !waitsForTask.has(method)
    open.set(id, { bytes, isBrief, leave: entered })
    if (isBrief) brief++
    inputBytes += bytes
    controller?.enqueue(message)
    return true
  }

  function mustWait({ waitMs = 0 }: ReachedLimit): false {
    cancelWait = clock.after(Math.max(waitMs, WAIT_MS), () => {
      cancelWait = undefined
      goOn()
    })
    return false
  }

  function answered(message: AnyMessage): void {
    if (!('id' in message) || 'method' in message) return
    const key = keyOfId(message.id)
    const request = open.get(key)
    if (request === undefined) return
    open.delete(key)
    if (request.isBrief) brief--
    inputBytes -= request.bytes
    request.leave()
  }

  function refuse({ id }: { readonly id: string }, reached: ReachedLimit): void {
    const { limit, value } = reached
    const error = toRequestError(new LullError('LIMIT_EXCEEDED', { limit, value }), () => undefined)
    send({ jsonrpc: '2.0', id: JSON.parse(id) as string, error: error.toErrorResponse() })
  }

  function answerInvalid(
    id: string | number | null,
    message: string,
    code = INVALID_REQUEST,
  ): void {
    send({ jsonrpc: '2.0', id, error: { code, message } })
  }

  function send(message: AnyMessage): void {
    socket.send(JSON.stringify(message), taken)
    const reached = count()
    if (reached !== undefined) end(TRY_LATER, wordsOf(reached))
  }

  function taken(): void {
    if (isClosed()) return
    count()
    if (unsent() <= BEHIND_BYTES) outputTaken?.()
    goOn()
  }

  function end(code: number, reason: string): void {
    if (isClosed()) return
    closed()
    socket.close(code, reason)
  }

  function closed(): void {
    if (isClosed()) return
    phase = 'closed'
    cancelWait?.()
    waiting.length = 0
    inputBytes = 0
    count()
    for (const { leave } of open.values()) leave()
    open.clear()
    controller?.close()
    controller = undefined
    outputTaken?.()
  }

  socket.on('message', received)
  socket.on('close', closed)
  socket.on('error', () => end(FAILED, 'WebSocket error'))
  return {
    readable: new ReadableStream<AnyMessage>({
      start(its) {
        controller = its
      },
      pull: goOn,
      cancel() {
        controller = undefined
        end(GOING_AWAY, 'Server shutting down')
      },
    }),
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        if (isClosed()) throw new Error('The client has disconnected')
        answered(message)
        send(message)
        if (unsent() > BEHIND_BYTES) {
          await new Promise<void>((resolve) => {
            outputTaken = resolve
          })
        }
        goOn()
      },
    }),
  }
}

function wordsOf({ limit, value }: ReachedLimit): string {
  return `The limit ${limit} (${value}) is reached`
}
