/** The listening socket. It is bound before the engine opens, so that a port in use is reported before any other work. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { listenError } from './start-error.ts'
import { takeUpgrades, type Upgrade } from './upgrades.ts'

export interface Listener {
  readonly port: number
  /** Answers requests with the handler, also those that arrived before. */
  answer(handler: RequestListener, upgrade?: Upgrade): void
  /** Accepts no further connections, waits at most `graceMs` for open requests, and then closes their connections. */
  close(graceMs: number): Promise<void>
}

/** @throws StartError */
export async function listen(host: string, port: number): Promise<Listener> {
  const early: Parameters<RequestListener>[] = []
  const wait: RequestListener = (...request) => early.push(request)
  const server = createServer(wait)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  let cutUpgraded: () => void = () => undefined

  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    answer(handler, upgrade) {
      server.off('request', wait)
      server.on('request', handler)
      if (upgrade !== undefined) cutUpgraded = takeUpgrades(server, handler, upgrade)
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
