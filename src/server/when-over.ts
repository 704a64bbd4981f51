import type { ServerResponse } from 'node:http'

/**
 * Calls `over` once, when the response was sent or its connection is gone. A response that is queued behind another one of its
 * connection has no 'close' event of its own.
 */
export function whenOver(outgoing: ServerResponse, over: () => void): void {
  const { socket } = outgoing.req
  const once = (): void => {
    outgoing.off('close', once)
    socket.off('close', once)
    over()
  }
  // Many responses may be queued.
  socket.setMaxListeners(0)
  outgoing.on('close', once)
  socket.on('close', once)
}
