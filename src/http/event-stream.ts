/**
 * Server-sent events. Streams are pulled: a frame is made when the reader can take it, so a slow reader costs only its
 * position in the log. Invariants of every writer of events (event-stream.test.ts, server/http/write-events.test.ts):
 *  S1  frames are sent in order, each with its id;
 *  S2  comments are sent while there are no frames, so that proxies do not cut a stream that waits for hours;
 *  S3  a reader that takes nothing for `MAX_MISSED_HEARTBEATS` is dropped, and can continue after the last id it saw;
 *  S4  a reader that disconnects closes its source and nothing else.
 */
export interface EventFrame {
  readonly id: string
  readonly data: string
}

/** Frames that are ready at the same time, as text. */
export interface FrameBatch {
  readonly text: string
  /** The stream ends after this batch. */
  readonly last: boolean
}

export interface FrameSource {
  /** The next batch, as soon as there are frames. Not called again before it has resolved. */
  next(): FrameBatch | Promise<FrameBatch>
  /** Ends the source. A pending `next` resolves with a last batch. A second call has no effect. */
  close(): void
  readonly heartbeat: Heartbeat
}

/** Called at every heartbeat. */
export interface HeartbeatListener {
  onHeartbeat(): void
}

/** One timer for all open streams. It runs while there are listeners. */
export interface Heartbeat {
  add(listener: HeartbeatListener): void
  delete(listener: HeartbeatListener): void
}

export function createHeartbeat(
  after: (ms: number, callback: () => void) => () => void,
  everyMs: number,
): Heartbeat {
  const listeners = new Set<HeartbeatListener>()
  let stop: (() => void) | undefined

  function schedule(): void {
    stop = after(everyMs, () => {
      for (const listener of [...listeners]) listener.onHeartbeat()
      if (listeners.size > 0) schedule()
      else stop = undefined
    })
  }

  return {
    add(listener) {
      listeners.add(listener)
      if (stop === undefined) schedule()
    },
    delete(listener) {
      listeners.delete(listener)
      if (listeners.size > 0) return
      stop?.()
      stop = undefined
    },
  }
}

/** Heartbeats a reader may miss before it is dropped: 64 s at the default heartbeat of 4 s. */
export const MAX_MISSED_HEARTBEATS = 16
/**
 * One line, without the blank line that ends an event. The parser of the official Python client (httpx-sse) reads a comment
 * with a blank line as an empty event, once a frame had an id.
 */
export const COMMENT = ': still here\n'
const encoder = new TextEncoder()

/** The source as a body of the web platform. */
export function eventStream(source: FrameSource): ReadableStream<Uint8Array> {
  const { heartbeat } = source
  let missed = 0
  let over = false
  let listener: HeartbeatListener | undefined

  function finish(): void {
    if (over) return
    over = true
    if (listener !== undefined) heartbeat.delete(listener)
    source.close()
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        listener = {
          onHeartbeat() {
            if ((controller.desiredSize ?? 0) > 0) {
              missed = 0
              controller.enqueue(encoder.encode(COMMENT))
            } else if (++missed >= MAX_MISSED_HEARTBEATS) {
              controller.error(new Error('The reader took nothing for too long'))
              finish()
            }
          },
        }
        heartbeat.add(listener)
      },
      async pull(controller) {
        missed = 0
        try {
          const { text, last } = await source.next()
          if (over) return
          if (text !== '') controller.enqueue(encoder.encode(text))
          if (!last) return
          finish()
          controller.close()
        } catch (error) {
          finish()
          controller.error(error)
        }
      },
      cancel: finish,
    },
    // Counts batches, not bytes: one batch is queued while the one before it is sent.
    { highWaterMark: 1 },
  )
}

export function frameText({ id, data }: EventFrame): string {
  return `id: ${id}\ndata: ${data}\n\n`
}

export const eventStreamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Without this header nginx buffers frames.
  'x-accel-buffering': 'no',
}
