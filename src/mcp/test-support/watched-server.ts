/** The watched server as the configuration of an agent has it, and what watches it. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { McpStdioServer } from '../client/server-config.ts'

const file = fileURLToPath(new URL('./watched-server.mjs', import.meta.url))

export function watchedServer(port: number, isStubborn = false): McpStdioServer {
  const env = { WATCH: String(port), ...(isStubborn ? { STUBBORN: '1' } : {}) }
  return { command: process.execPath, args: [file], env }
}

export interface Watch {
  readonly port: number
  /** Resolves when a server has started, and none is running. */
  ended(): Promise<void>
  close(): void
}

export async function watchServers(): Promise<Watch> {
  const running = new Set<unknown>()
  let started = 0
  const server = createServer((socket) => {
    started++
    running.add(socket)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => {
      running.delete(socket)
      server.emit('ended')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async ended() {
      while (started === 0 || running.size > 0) await once(server, 'ended')
    },
    close: () => server.close(),
  }
}
