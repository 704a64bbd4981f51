/**
 * Large requests and answers in memory: bodies that arrive in pieces, answers that their readers have not taken yet, and the
 * frames of WebSockets.
 *
 * F1  They have at most so many bytes of one caller, and four times as many of all callers together. The one that would be too
 *     much is refused. The owner of the process is limited by the total alone.
 */
import type { Refused } from '../auth/admission.ts'
import { type Identity, keyOfIdentity, owner } from '../auth/identity.ts'

/** What one response or one socket has in memory. */
export interface Account {
  /** From now on it has so many bytes. @returns the limit that was reached; nothing has changed then */
  set(bytes: number): Refused | undefined
}

export interface BytesInFlight {
  account(identity: Identity): Account
}

/** How many times as much all callers may have together. */
const ALL = 4

/** @param noteRefused called with the name of the limit at each refusal */
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
