/** Connections that are kept, and requests that may go unanswered because the server died. */
import { Agent, request } from 'node:http'
import type { Dialect } from './plan.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are judged later
export type Loose = any

/** What came back; nothing when the connection broke first. */
export type Answer = { readonly status: number; readonly body: Loose } | undefined

export interface Wire {
  rpc(dialect: Dialect, method: string, params: object): Promise<Answer>
  emit(event: object): Promise<Answer>
  close(): void
}

export function createWire(url: string, connections: number): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { port } = new URL(url)

  function post(path: string, type: string, version: string, body: string): Promise<Answer> {
    return new Promise((resolve) => {
      const gone = (): void => resolve(undefined)
      const headers = {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        'a2a-version': version,
      }
      const asked = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers })
      asked.on('error', gone)
      asked.on('response', (response) => {
        const { statusCode: status = 0 } = response
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', gone)
        response.on('aborted', gone)
        response.on('end', () => {
          if (!response.complete) return gone()
          resolve({ status, body: JSON.parse(Buffer.concat(chunks).toString()) })
        })
      })
      asked.end(body)
    })
  }

  return {
    rpc(dialect, method, params) {
      const version = dialect === '1.0' ? '1.0' : '0.3'
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      return post('/', 'application/json', version, body)
    },
    emit: (event) => post('/events', 'application/cloudevents+json', '1.0', JSON.stringify(event)),
    close: () => agent.destroy(),
  }
}
