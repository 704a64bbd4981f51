/**
 * Counts large requests and answers in memory: bodies that arrive in chunks, answers that readers
 * have not taken yet, and the frames of WebSockets.
 *
 * F1  Their bytes are limited per caller, and for all callers together to four times as much. A
 *     request or answer that would exceed a limit is refused. For the owner of the process only the
 *     total counts.
 */
import type { Refused } from '../auth/admission.ts'
import { type Identity, keyOfIdentity, owner } from '../auth/identity.ts'

/** The bytes that one response or one socket has in memory. */
export interface Account {
  /**
   * Sets the number of bytes.
   * @returns the limit that was reached; then nothing has changed
   */
  set(bytes: number): Refused | undefined
}

export interface BytesInFlight {
  account(identity: Identity): Account
}

/** The limit of all callers together, as a multiple of that of one caller. */
const ALL = 4

/** @param noteRefused called at each refusal with the name of the limit */
export function createBytesInFlight(
  limit: number,
  noteRefused: (limit: string) => void = () => undefined,
): BytesInFlight {
  const byCaller = new Map<string, number>()
  let all = 0

  function refusalOf(identity: Identity, own: number, more: number): Refused | undefined {
    if (identity !== owner && own > 0 && own + more > limit) {
      return { limit: 'bytesInFlight of the principal', value: limit }
    }
    if (all > 0 && all + more > limit * ALL) {
      return { limit: 'bytesInFlight of the server', value: limit * ALL }
    }
    return undefined
  }

  return {
    account(identity) {
      const key = keyOfIdentity(identity)
      let held = 0
      return {
        set(bytes) {
          const more = bytes - held
          const own = byCaller.get(key) ?? 0
          const refused = more > 0 ? refusalOf(identity, own, more) : undefined
          if (refused !== undefined) {
            noteRefused(refused.limit)
            return refused
          }
          held = bytes
          all += more
          if (own + more === 0) byCaller.delete(key)
          else byCaller.set(key, own + more)
          return undefined
        },
      }
    },
  }
}
