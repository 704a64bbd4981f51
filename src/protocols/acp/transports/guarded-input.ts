/**
 * Refuses messages with too many values before the SDK parses them. The SDK would parse and check millions of values at once,
 * and hold the event loop for seconds.
 */
import type { PreparedWebSocketUpgrade } from '@agentclientprotocol/sdk/experimental/server'
import { isTooCostly } from '../../../wire/strict-json.ts'

type Socket = Parameters<PreparedWebSocketUpgrade['accept']>[0]
type Listener = Parameters<NonNullable<Socket['on']>>[1]

/** WebSocket close code: the message is too big. */
const TOO_BIG = 1009
const decoder = new TextDecoder()

/** The socket, which is closed when such a message comes. */
export function guardedSocket(socket: Socket): Socket {
  const guards = new Map<Listener, Listener>()

  function guardOf(listener: Listener): Listener {
    return (...args) => {
      if (isTooCostly(textOf(args[0]))) socket.close(TOO_BIG, 'The message has too many values')
      else listener(...args)
    }
  }

  return {
    get readyState() {
      return socket.readyState ?? 0
    },
    get bufferedAmount() {
      return socket.bufferedAmount ?? 0
    },
    send: (data) => socket.send(data),
    close: (code, reason) => socket.close(code, reason),
    on(type, listener) {
      const guard = type === 'message' ? guardOf(listener) : listener
      guards.set(listener, guard)
      return socket.on?.(type, guard)
    },
    off: (type, listener) => socket.off?.(type, guards.get(listener) ?? listener),
  }
}

/** The same request with its body read. Undefined when its body is such a message. */
export async function guardedRequest(request: Request): Promise<Request | undefined> {
  if (request.method !== 'POST') return request
  const body = await request.text()
  if (isTooCostly(body)) return undefined
  const { url, method, headers } = request
  return new Request(url, { method, headers, body })
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data
  return data instanceof Uint8Array ? decoder.decode(data) : ''
}
