import type { ServerResponse } from 'node:http'

/** Whether nothing more of the response will be sent. */
export function isOver({ destroyed, req }: ServerResponse): boolean {
  return destroyed || req.socket.destroyed
}

/**
 * Calls `over` once, when the response was sent or its connection is gone; at once when it is gone already, because no event
 * follows then. A response that is queued behind another one of its connection has no 'close' event of its own.
 * @returns stops waiting
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
  // Many responses may be queued.
  socket.setMaxListeners(0)
  outgoing.on('close', once)
  socket.on('close', once)
  return forget
}
