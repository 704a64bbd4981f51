/** A TCP proxy between a store and its database, which can cut connections at an instant of the test's choice. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface TcpProxy {
  /** The database, by way of the proxy. */
  readonly url: string
  /** The next request that has this text is forwarded, and its connection is cut before the answer. */
  cutAfter(text: string): { readonly happened: () => boolean }
  /** The next request that has this text is lost, and its connection carries nothing from then on. It is not cut. */
  loseFrom(text: string): { readonly happened: () => boolean }
  /** Cuts all connections. */
  cutAll(): void
  /** While the work runs, nothing is forwarded, and nothing is cut. */
  silence(): () => void
  /** How many connections were made. */
  connections(): number
}

interface Arming {
  readonly what: 'cut' | 'lose'
  readonly text: string
  done: boolean
}

export async function startProxy(database: string): Promise<TcpProxy> {
  const target = new URL(database)
  const { port, hostname } = target
  const open = new Set<Socket>()
  const armed = new Set<Arming>()
  let made = 0
  let silent = false

  const server = createServer((client) => {
    made++
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    let cut = false
    let lost = false
    client.on('data', (chunk) => {
      if (silent || lost) return
      const matching = [...armed].find(({ text, done }) => !done && chunk.includes(text))
      if (matching === undefined) {
        upstream.write(chunk)
        return
      }
      matching.done = true
      if (matching.what === 'lose') {
        lost = true
        return
      }
      cut = true
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      // The answer has come, so the statement was carried out. The client never hears of it.
      if (cut) client.destroy()
      else if (!silent && !lost) client.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  function arm(what: Arming['what'], text: string): { readonly happened: () => boolean } {
    const arming = { what, text, done: false }
    armed.add(arming)
    return { happened: () => arming.done }
  }
  return {
    url: target.href,
    cutAfter: (text) => arm('cut', text),
    loseFrom: (text) => arm('lose', text),
    cutAll() {
      for (const socket of open) socket.destroy()
    },
    silence() {
      silent = true
      return () => {
        silent = false
      }
    },
    connections: () => made,
  }
}
