/** A socket and what answers on it. It is bound before the engine opens, so that a taken port costs nothing. */
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { listenError } from './start-error.ts'

export type FetchHandler = (request: Request, env: unknown) => Response | Promise<Response>

export interface Listener {
  readonly port: number
  /** From now on requests are answered; those that came before have waited. */
  answer(handler: FetchHandler): void
  /** Takes no further connections; waits for open requests at most `graceMs`, then cuts them off. */
  close(graceMs: number): Promise<void>
}

/** @throws StartError */
export async function listen(host: string, port: number): Promise<Listener> {
  let answer: (handler: FetchHandler) => void = () => undefined
  let handler: FetchHandler | undefined
  const ready = new Promise<FetchHandler>((resolve) => {
    answer = resolve
  })
  const fetch: FetchHandler = (request, env) =>
    handler === undefined ? ready.then((first) => first(request, env)) : handler(request, env)

  // Without a TLS option the adapter makes a plain HTTP server.
  const server = createAdaptorServer({ fetch, hostname: host }) as Server
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)))
    server.listen(port, host, resolve)
  })
  const address = server.address()

  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    answer(first) {
      handler = first
      answer(first)
    },
    close: (graceMs) => close(server, graceMs),
  }
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
