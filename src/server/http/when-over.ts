import type { ServerResponse } from 'node:http'

/** Whether nothing more of the response will be sent. */
export function isOver({ destroyed, req }: ServerResponse): boolean {
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
