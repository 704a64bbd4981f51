/** Server-sent events onto a socket; S1 to S4 of `wire/event-stream.ts` hold here too (write-events.test.ts). */
import type { ServerResponse } from 'node:http'
import { type Beating, COMMENT, type FrameSource, MISSED_BEATS } from '../wire/event-stream.ts'
import type { HttpHeaders } from '../wire/http.ts'

export async function writeEvents(
  outgoing: ServerResponse,
  status: number,
  headers: HttpHeaders,
  source: FrameSource,
): Promise<void> {
  const { pulse } = source
  let missed = 0
  const heart: Beating = {
    beat() {
      if (!outgoing.writableNeedDrain) outgoing.write(COMMENT)
      else if (++missed >= MISSED_BEATS) outgoing.destroy()
    },
  }
  outgoing.on('close', () => source.close())
  // What read the request has done so, and is not to stay for as long as the stream does.
  outgoing.req.removeAllListeners()
  pulse.add(heart)
  try {
    outgoing.writeHead(status, { ...headers })
    let next = source.next()
    // The head goes with the first frame, or by itself where that may be far away.
    if (next instanceof Promise) outgoing.flushHeaders()
    for (;;) {
      const { text, last } = await next
      if (outgoing.destroyed) return
      if (last) {
        outgoing.end(text)
        return
      }
      if (!outgoing.write(text)) await room(outgoing)
      missed = 0
      next = source.next()
    }
  } finally {
    pulse.delete(heart)
    source.close()
  }
}

/** Resolves when the reader has taken what is waiting, or is gone. */
function room(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
}
