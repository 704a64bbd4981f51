/**
 * Server-sent events as a body. Pulled, never pushed: a frame is made when the reader has room for it, so a slow reader
 * costs its place in the log and nothing else. Invariants (event-stream.test.ts):
 *  S1  frames leave in order, each with its id;
 *  S2  silence is filled with comments, so that proxies do not cut a stream that waits for hours;
 *  S3  a reader that takes nothing for `stallMs` is dropped; with the last id it saw it can come back;
 *  S4  a reader that goes away ends the source, and only the source.
 */
export interface EventFrame {
  readonly id: string
  readonly data: string
}

/** What beats for every open stream at once: one timer, however many streams. */
export interface Pulse {
  /** Calls back every beat until the returned function is called. */
  readonly each: (beat: () => void) => () => void
}

export function createPulse(
  after: (ms: number, callback: () => void) => () => void,
  everyMs: number,
): Pulse {
  const beats = new Set<() => void>()
  let stop: (() => void) | undefined

  function schedule(): void {
    stop = after(everyMs, () => {
      for (const beat of [...beats]) beat()
      if (beats.size > 0) schedule()
      else stop = undefined
    })
  }

  return {
    each(beat) {
      beats.add(beat)
      if (stop === undefined) schedule()
      return () => {
        beats.delete(beat)
        if (beats.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

/** Beats a reader may miss before it is dropped. */
const MISSED_BEATS = 4
const COMMENT = new TextEncoder().encode(': still here\n\n')
const encoder = new TextEncoder()

export function eventStream(
  frames: AsyncIterator<EventFrame, unknown>,
  pulse: Pulse,
  ended: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  let missed = 0
  let over = false
  let stopPulse: () => void = () => undefined

  async function finish(): Promise<void> {
    if (over) return
    over = true
    stopPulse()
    ended()
    await frames.return?.(undefined)
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stopPulse = pulse.each(() => {
          if ((controller.desiredSize ?? 0) > 0) {
            missed = 0
            controller.enqueue(COMMENT)
          } else if (++missed >= MISSED_BEATS) {
            controller.error(new Error('The reader took nothing for too long'))
            finish().catch(() => undefined)
          }
        })
      },
      async pull(controller) {
        missed = 0
        try {
          const { done, value } = await frames.next()
          if (over) return
          if (done) {
            await finish()
            controller.close()
          } else {
            controller.enqueue(encoder.encode(frameText(value)))
          }
        } catch (error) {
          await finish()
          controller.error(error)
        }
      },
      cancel: finish,
    },
    // Bytes are not counted: one frame waits while the one before it is on its way.
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
