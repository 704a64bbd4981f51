/**
 * The listening socket. It is bound before the engine opens, so that a port in use is reported before any other work.
 */
import { createServer, type Server } from 'node:http'
import type { Log } from '../../ports/log.ts'
import { takeUpgrades, type Upgrade } from '../acp/upgrades.ts'
import { listenError } from '../process/start-error.ts'
import { CountedResponse } from './counted-response.ts'
import { earlyAnswer } from './early-answers.ts'
import type { Front } from './front.ts'

export interface Listener {
  readonly port: number
  /** Answers requests with the handler, including those that arrived before this call. */
  answer(handler: Front, upgrade?: Upgrade): void
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
    answer(handler, upgrade) {
      server.off('request', wait)
      server.on('request', handler)
      if (upgrade !== undefined) cutUpgraded = takeUpgrades(server, upgrade)
      for (const request of early.splice(0)) handler(...request)
    },
    close: (graceMs) => close(server, graceMs, () => cutUpgraded()),
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
