/**
 * Tracks the open connections over HTTP, and counts WebSockets. A connection without streams and
 * requests expires.
 *
 * K1  A principal may have a limited number of connections, its tenant twice as many, and all
 *     tenants together four times as many. So one caller cannot use up the connections of others.
 */
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'

export interface OpenConnection {
  readonly owner: Caller
  /** The number of streams that the client reads. */
  streams: number
  cancelExpiry: () => void
}

export interface OpenConnections {
  /** The limit that another connection of the caller would exceed, if any. */
  limitReached(caller: Caller): string | undefined
  add(id: string, owner: Caller): void
  get(id: string): OpenConnection | undefined
  /** Called with each request: restarts the time until the connection expires. */
  touch(id: string, connection: OpenConnection): void
  /** @returns a function to call when the stream ends */
  streamOpened(id: string, connection: OpenConnection): () => void
  /** @returns a function to call when the socket closes; calling it again does nothing */
  socketOpened(owner: Caller): () => void
  forget(id: string): void
  clear(): void
}

const IDLE_MS = 300_000

/** @param most the most connections of a principal */
export function createOpenConnections(
  clock: EngineDeps['clock'],
  most: number,
  expired: (id: string) => void,
): OpenConnections {
  const open = new Map<string, OpenConnection>()
  const counts = new Map<string, number>()

  function count(owner: Caller, by: 1 | -1): void {
    for (const [, key] of placesOf(owner)) {
      const left = (counts.get(key) ?? 0) + by
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    }
  }

  function limitReached(caller: Caller): string | undefined {
    const found = placesOf(caller).find(
      ([, key, factor]) => (counts.get(key) ?? 0) >= most * factor,
    )
    return found && `acp.connections of the ${found[0]} (${most * found[2]})`
  }

  function touch(id: string, connection: OpenConnection): void {
    connection.cancelExpiry()
    if (connection.streams > 0) return
    connection.cancelExpiry = clock.after(IDLE_MS, () => {
      forget(id)
      expired(id)
    })
  }

  function forget(id: string): void {
    const known = open.get(id)
    if (known === undefined) return
    known.cancelExpiry()
    open.delete(id)
    count(known.owner, -1)
  }

  return {
    limitReached,
    add(id, owner) {
      count(owner, 1)
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
    socketOpened(owner) {
      count(owner, 1)
      let counted = true
      return () => {
        if (counted) count(owner, -1)
        counted = false
      }
    },
    forget,
    clear() {
      for (const id of [...open.keys()]) forget(id)
    },
  }
}

type Place = readonly [of: string, key: string, factor: number]

function placesOf({ tenant, principal }: Caller): readonly Place[] {
  return [
    ['principal', JSON.stringify([tenant, principal]), 1],
    ['tenant', JSON.stringify([tenant]), 2],
    ['server', '', 4],
  ]
}
