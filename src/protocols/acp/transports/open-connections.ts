/** The open connections over HTTP, and the number of WebSockets. A connection without streams and requests expires. */
import type { EngineDeps } from '../../../engine/deps.ts'

export interface OpenConnection {
  readonly owner: string
  /** How many streams the client reads. */
  streams: number
  cancelExpiry: () => void
}

export interface OpenConnections {
  isFull(): boolean
  add(id: string, owner: string): void
  get(id: string): OpenConnection | undefined
  /** A request came: the time until the connection expires begins again. */
  touch(id: string, connection: OpenConnection): void
  /** @returns to be called when the stream ends */
  streamOpened(id: string, connection: OpenConnection): () => void
  /** @returns to be called when the socket closes; further calls do nothing */
  socketOpened(): () => void
  forget(id: string): void
  clear(): void
}

const MAX_CONNECTIONS = 1_000
const IDLE_MS = 300_000

export function createOpenConnections(
  clock: EngineDeps['clock'],
  expired: (id: string) => void,
): OpenConnections {
  const open = new Map<string, OpenConnection>()
  let sockets = 0

  function touch(id: string, connection: OpenConnection): void {
    connection.cancelExpiry()
    if (connection.streams > 0) return
    connection.cancelExpiry = clock.after(IDLE_MS, () => {
      forget(id)
      expired(id)
    })
  }

  function forget(id: string): void {
    open.get(id)?.cancelExpiry()
    open.delete(id)
  }

  return {
    isFull: () => open.size + sockets >= MAX_CONNECTIONS,
    add(id, owner) {
      const connection = { owner, streams: 0, cancelExpiry: () => undefined }
      open.set(id, connection)
      touch(id, connection)
    },
    get: (id) => open.get(id),
    touch,
    streamOpened(id, connection) {
      connection.streams++
      connection.cancelExpiry()
      return () => {
        connection.streams--
        if (open.get(id) === connection) touch(id, connection)
      }
    },
    socketOpened() {
      sockets++
      let counted = true
      return () => {
        if (counted) sockets--
        counted = false
      }
    },
    forget,
    clear() {
      for (const id of [...open.keys()]) forget(id)
    },
  }
}
