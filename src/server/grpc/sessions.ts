/**
 * Bounds what a connection of HTTP/2 costs, as the timeouts of `http/listen.ts` do for HTTP/1.1. Node and nghttp2 bound the
 * rest: the memory of a connection, the size of a head, and how many streams a client opens and resets.
 *
 *  H1  A connection that opens no stream for 15 s, or later has none for 60 s, is closed.
 *  H2  A peer that does not answer a ping is gone. It is pinged every 20 s, and its connection is closed at the next ping.
 *  H3  A client that only makes work is disconnected: its pings, settings and calls that it took back are 100 at once and 10
 *      per second, and 100 again whenever the server has sent something (clients measure the connection with pings then).
 */
import { constants, type Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { Clock } from '../../ports/clock.ts'

const SWEEP_MS = 5_000
const FIRST_STREAM_MS = 15_000
const IDLE_MS = 60_000
const PING_MS = 20_000
const AT_ONCE = 100
const PER_S = 10

interface Kept {
  readonly session: Http2Session
  readonly socket: Socket
  open: number
  /** The elapsed time since which no stream is open, and how long that may last. */
  idleSince: number
  idleMs: number
  pingedAt: number
  isPinged: boolean
  /** How many more frames that only make work may come. */
  left: number
  leftAt: number
}

export interface Sessions {
  add(session: Http2Session, socket: Socket): void
  /** Notes an open stream. @returns to call when it is over, with whether the client took it back */
  opened(session: Http2Session): (isCancelled: boolean) => void
  /** Notes that the server has sent something. */
  sent(session: Http2Session): void
  /** Lets open streams end, and accepts no further ones. */
  drain(): void
  /** Ends every connection. */
  cut(): void
  close(): void
}

export function createSessions(clock: Pick<Clock, 'elapsed' | 'after'>): Sessions {
  const known = new Map<Http2Session, Kept>()
  let cancel: (() => void) | undefined

  function sweep(): void {
    cancel = known.size === 0 ? undefined : clock.after(SWEEP_MS, sweep)
    for (const kept of known.values()) {
      if (isIdle(kept)) end(kept)
      else ping(kept)
    }
  }

  function isIdle({ open, idleSince, idleMs }: Kept): boolean {
    return open === 0 && clock.elapsed() - idleSince >= idleMs
  }

  /** Says goodbye first. A peer that does not hang up by the next sweep is disconnected. */
  function end(kept: Kept): void {
    if (kept.session.closed) disconnect(kept)
    else kept.session.close()
  }

  /** A session that has said goodbye leaves its socket open until the peer hangs up, which it may never do. */
  function disconnect({ session, socket }: Kept): void {
    session.destroy()
    socket.destroy()
  }

  function ping(kept: Kept): void {
    if (clock.elapsed() - kept.pingedAt < PING_MS) return
    const wasAnswered = !kept.isPinged
    kept.pingedAt = clock.elapsed()
    kept.isPinged = kept.session.ping(() => {
      kept.isPinged = false
    })
    if (!wasAnswered) disconnect(kept)
  }

  function spend(kept: Kept): void {
    if (kept.session.destroyed) return
    const now = clock.elapsed()
    const more = ((now - kept.leftAt) / 1_000) * PER_S
    kept.left = Math.min(AT_ONCE, kept.left + more) - 1
    kept.leftAt = now
    if (kept.left >= 0) return
    kept.session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    disconnect(kept)
  }

  return {
    add(session, socket) {
      const now = clock.elapsed()
      const kept: Kept = {
        session,
        socket,
        open: 0,
        idleSince: now,
        idleMs: FIRST_STREAM_MS,
        pingedAt: now,
        isPinged: false,
        left: AT_ONCE,
        leftAt: now,
      }
      known.set(session, kept)
      cancel ??= clock.after(SWEEP_MS, sweep)
      session.on('close', () => known.delete(session))
      // The connection broke. Its streams end, and each has its own listener.
      session.on('error', () => session.destroy())
      session.on('ping', () => spend(kept))
      session.on('remoteSettings', () => spend(kept))
    },
    opened(session) {
      const kept = known.get(session)
      if (kept === undefined) return () => undefined
      kept.open++
      kept.idleMs = IDLE_MS
      return (isCancelled) => {
        if (isCancelled) spend(kept)
        kept.open--
        kept.idleSince = clock.elapsed()
      }
    },
    sent(session) {
      const kept = known.get(session)
      if (kept !== undefined) kept.left = AT_ONCE
    },
    drain() {
      for (const { session } of known.values()) session.close()
    },
    cut() {
      for (const kept of known.values()) disconnect(kept)
    },
    close: () => cancel?.(),
  }
}
