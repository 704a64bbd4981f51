/**
 * Large requests and answers in memory: bodies that arrive in pieces, and answers that their readers have not taken yet.
 *
 * F1  They have at most so many bytes of one caller, and four times as many of all callers together. The one that would be too
 *     much is refused. The owner of the process is limited by the total alone.
 * F2  Bytes count until the response was sent or its connection is gone. An answer for a client that is gone counts nothing.
 *     Those of a stream count until they were taken: the body of the request until the stream begins, a frame until the socket
 *     has it.
 */
import type { ServerResponse } from 'node:http'
import type { Refused } from './auth/admission.ts'
import { type Identity, owner } from './auth/identity.ts'
import { isOver, whenOver } from './when-over.ts'

export interface BytesInFlight {
  /** Counts bytes of the request, or of its answer. @returns the limit that was reached; nothing was counted then */
  hold(identity: Identity, outgoing: ServerResponse, bytes: number): Refused | undefined
  /** The bytes that were counted for the response so far are no longer in memory. */
  free(outgoing: ServerResponse): void
}

/** How many times as much all callers may have together. */
const ALL = 4

export function createBytesInFlight(limit: number): BytesInFlight {
  const byCaller = new Map<string, number>()
  const held = new WeakMap<ServerResponse, { readonly key: string; bytes: number }>()
  let all = 0

  function add(key: string, bytes: number): void {
    all += bytes
    const own = (byCaller.get(key) ?? 0) + bytes
    if (own === 0) byCaller.delete(key)
    else byCaller.set(key, own)
  }

  function free(outgoing: ServerResponse): void {
    const one = held.get(outgoing)
    if (one === undefined) return
    add(one.key, -one.bytes)
    one.bytes = 0
  }

  return {
    free,
    hold(identity, outgoing, bytes) {
      if (isOver(outgoing)) return undefined
      const key = JSON.stringify([identity.tenant, identity.principal])
      const own = byCaller.get(key) ?? 0
      if (identity !== owner && own > 0 && own + bytes > limit) {
        return { limit: 'bytesInFlight of the principal', value: limit }
      }
      if (all > 0 && all + bytes > limit * ALL) {
        return { limit: 'bytesInFlight of the server', value: limit * ALL }
      }
      add(key, bytes)
      const known = held.get(outgoing)
      if (known !== undefined) {
        known.bytes += bytes
        return undefined
      }
      held.set(outgoing, { key, bytes })
      whenOver(outgoing, () => free(outgoing))
      return undefined
    },
  }
}
