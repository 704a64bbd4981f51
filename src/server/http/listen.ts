/**
 * The listening socket. It is bound before the engine opens, so that a port in use is reported before any other work.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../ports/log.ts'
import { takeUpgrades, type Upgrade } from '../acp/upgrades.ts'
import { listenError } from '../process/start-error.ts'
import { version } from '../settings/version.ts'
import { CountedResponse } from './counted-response.ts'
import { divertHttp2 } from './first-bytes.ts'
import type { Front } from './front.ts'
import { writeText } from './node-http.ts'
import { jsonHeaders, refusalText } from './refusals.ts'

/** Serves connections of HTTP/2. */
export interface Http2Front {
  take(socket: Socket): void
  /** Lets open calls end, and then closes their connections. */
  drain(): void
  /** Closes every connection. */
  cut(): void
}

export interface Listener {
  readonly port: number
  /** Answers requests with the handler, including those that arrived before this call. */
  answer(handler: Front, upgrade?: Upgrade, http2?: Http2Front): void
  /**
   * Stops accepting connections, waits up to `graceMs` for open requests, and then closes their
   * connections.
   */
  close(graceMs: number): Promise<void>
}

const options = {
  ServerResponse: CountedResponse,
  // The time in which a client must send the head of a request, and the whole request.
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
}

/** The most requests that wait for the start. */
const MAX_EARLY = 1_000

/** @throws StartError */
export async function listen(host: string, port: number, log: Log = () => {}): Promise<Listener> {
  const early: Parameters<Front>[] = []
  const wait: Front = (...request) => {
    if (!earlyAnswer(...request, early.length < MAX_EARLY)) early.push(request)
  }
  const server = createServer(options, wait)
  const earlySockets: Socket[] = []
  let http2: Http2Front | undefined
  divertHttp2(server, (socket) => {
    if (http2 !== undefined) http2.take(socket)
    else if (earlySockets.length < MAX_EARLY) earlySockets.push(socket)
    else socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)))
    server.listen(port, host, resolve)
  })
  // A connection could not be accepted, for example because no file descriptor is free. Open
  // connections are not affected.
  server.on('error', (error) => log('error', 'a connection could not be accepted', { error }))
  const address = server.address()
  let cutUpgraded: () => void = () => undefined

  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    answer(handler, upgrade, front) {
      server.off('request', wait)
      server.on('request', handler)
      if (upgrade !== undefined) cutUpgraded = takeUpgrades(server, upgrade)
      for (const request of early.splice(0)) handler(...request)
      http2 = front
      for (const socket of earlySockets.splice(0)) {
        if (front === undefined) socket.destroy()
        else front.take(socket)
      }
    },
    close(graceMs) {
      http2?.drain()
      for (const socket of earlySockets) socket.destroy()
      return close(server, graceMs, () => {
        cutUpgraded()
        http2?.cut()
      })
    },
  }
}

function close(server: Server, graceMs: number, cutUpgraded: () => void): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections()
      cutUpgraded()
    }, graceMs)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}

const answers: Readonly<Record<string, { readonly status: number; readonly body: object }>> = {
  '/healthz': { status: 200, body: { status: 'starting', version } },
  '/readyz': { status: 503, body: { ready: false, starting: true } },
}

const RETRY_S = '1'

/**
 * Answers health checks while the engine starts. A start may have a long backlog to process, and a
 * supervisor asks for health meanwhile. Other requests wait, up to a limit.
 *
 * Answers a request, or returns false if it has to wait for the start.
 */
function earlyAnswer(
  { url = '' }: IncomingMessage,
  outgoing: ServerResponse,
  mayWait: boolean,
): boolean {
  const known = answers[url.split('?')[0] ?? '']
  if (known === undefined && mayWait) return false
  if (known !== undefined) {
    writeText(outgoing, known.status, jsonHeaders, JSON.stringify(known.body))
    return true
  }
  const text = refusalText('OVERLOADED', 'The server is starting; try again shortly')
  writeText(outgoing, 503, { ...jsonHeaders, 'retry-after': RETRY_S }, text)
  return true
}
