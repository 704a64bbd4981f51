/**
 * Writes server-sent events to a socket, with the guarantees S1 to S4 of `http/event-stream.ts`
 * (write-events.test.ts).
 */
import type { ServerResponse } from 'node:http'
import {
  COMMENT,
  type FrameSource,
  type HeartbeatListener,
  MAX_MISSED_HEARTBEATS,
} from '../../http/event-stream.ts'
import type { HttpHeaders } from '../../http/http.ts'

export async function writeEvents(
  outgoing: ServerResponse,
  status: number,
  headers: HttpHeaders,
  source: FrameSource,
): Promise<void> {
  const { heartbeat } = source
  const { socket } = outgoing.req
  if (outgoing.destroyed || socket.destroyed) {
    source.close()
    return
  }
  let missed = 0
  let left = false
  let release: () => void = () => undefined
  const leave = (): void => {
    left = true
    source.close()
    release()
  }
  const listener: HeartbeatListener = {
    onHeartbeat() {
      if (!outgoing.writableNeedDrain) outgoing.write(COMMENT)
      else if (++missed >= MAX_MISSED_HEARTBEATS) {
        outgoing.destroy()
        leave()
      }
    },
  }
  /** Resolves when the reader has taken the buffered text, or has disconnected. */
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      release = resolve
      outgoing.once('drain', resolve)
    })
  outgoing.on('close', leave)
  // A response that is queued behind another one on its connection gets no `close` event. Many may
  // be queued on one socket.
  socket.setMaxListeners(0)
  socket.on('close', leave)
  heartbeat.add(listener)
  try {
    outgoing.writeHead(status, { ...headers })
    let next = source.next()
    // The head is sent with the first frame, or at once if that frame is not ready.
    if (next instanceof Promise) outgoing.flushHeaders()
    for (;;) {
      const { text, last } = await next
      if (left || outgoing.destroyed) return
      if (last) {
        outgoing.end(text)
        return
      }
      if (!outgoing.write(text)) await drained()
      if (left) return
      missed = 0
      next = source.next()
    }
  } finally {
    heartbeat.delete(listener)
    socket.off('close', leave)
    source.close()
  }
}
