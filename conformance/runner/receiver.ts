/** A webhook on loopback that keeps every delivery. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '../values.ts'
import { waitFor } from './sse.ts'

export interface Delivery {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly text: string
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly deliveries: readonly Delivery[]
  readonly until: (holds: () => boolean, deadlineMs: number) => Promise<boolean>
}

export async function openReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const waiters = new Set<() => void>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      deliveries.push({ method: request.method ?? '', headers, body: parseJson(text), text })
      response.writeHead(200).end()
      for (const wake of waiters) wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    until: (holds, deadlineMs) => waitFor(holds, () => false, waiters, deadlineMs),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
