/**
 * Server-sent events. Pulled, never pushed: a frame is made when the reader has room for it, so a slow reader costs its
 * place in the log and nothing else. Invariants, wherever events are written (event-stream.test.ts):
 *  S1  frames leave in order, each with its id;
 *  S2  silence is filled with comments, so that proxies do not cut a stream that waits for hours;
 *  S3  a reader that takes nothing for `MAX_MISSED_HEARTBEATS` is dropped; with the last id it saw it can come back;
 *  S4  a reader that goes away ends the source, and only the source.
 */
export interface EventFrame {
  readonly id: string
  readonly data: string
}

/** Frames that are ready together, as text. */
export interface FrameBatch {
  readonly text: string
  /** Nothing follows. */
  readonly last: boolean
}

export interface FrameSource {
  /** What comes next, as soon as there is something. Asked again only when it has answered. */
  next(): FrameBatch | Promise<FrameBatch>
  /** Nobody reads any more: a `next` that waits answers with the last burst. Closing twice is closing once. */
  close(): void
  readonly heartbeat: Heartbeat
}

/** Somebody who is told of every beat. */
export interface HeartbeatListener {
  onHeartbeat(): void
}

/** What beats for every open stream at once: one timer, however many streams. */
export interface Heartbeat {
  add(one: HeartbeatListener): void
  delete(one: HeartbeatListener): void
}

export function createHeartbeat(
  after: (ms: number, callback: () => void) => () => void,
  everyMs: number,
): Heartbeat {
  const all = new Set<HeartbeatListener>()
  let stop: (() => void) | undefined

  function schedule(): void {
    stop = after(everyMs, () => {
      for (const one of [...all]) one.onHeartbeat()
      if (all.size > 0) schedule()
      else stop = undefined
    })
  }

  return {
    add(one) {
      all.add(one)
      if (stop === undefined) schedule()
    },
    delete(one) {
      all.delete(one)
      if (all.size > 0) return
      stop?.()
      stop = undefined
    },
  }
}

/** Beats a reader may miss before it is dropped: a good minute at the usual beat of 4 s. */
export const MAX_MISSED_HEARTBEATS = 16
/**
 * One line, without the blank one that ends an event: the parser of the official Python client (httpx-sse) makes an empty
 * event of a comment with a blank line, once a frame had an id.
 */
export const COMMENT = ': still here\n'
const encoder = new TextEncoder()

/** As a body of the web platform. */
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
    // Bytes are not counted: one burst waits while the one before it is on its way.
    { highWaterMark: 1 },
  )
}

export function frameText({ id, data }: EventFrame): string {
  return `id: ${id}\ndata: ${data}\n\n`
}

export const eventStreamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // nginx would collect frames otherwise.
  'x-accel-buffering': 'no',
}
