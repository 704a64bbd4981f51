/**
 * The public halves of the keys that the server signs with. A replaced key stays published for a
 * week, because receivers may still hold deliveries and cached cards signed with it.
 */
import { z } from 'zod'
import type { Json } from '../../core/values/json.ts'
import { parse } from '../../engine/input/parse.ts'
import { changeValue } from '../../engine/upkeep/change-value.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import { createSigningKey, type PublicJwk } from '../../protocols/a2a/cards/signing-key.ts'

const NAME = 'push/published-keys'
const KEPT_MS = 7 * 24 * 3_600_000
/** In a shared store: how long a key published by another process may be missing here. */
const FRESH_MS = 5_000

interface Published {
  readonly jwk: PublicJwk
  /** When the key stops being published. Absent while a process signs with it. */
  readonly until?: number | undefined
}

const text = z.string()
const jwk = z.object({ kty: text, crv: text, x: text, y: text, kid: text, alg: text, use: text })
const list: z.ZodType<readonly Published[]> = z.array(
  z.object({ jwk, until: z.number().optional() }),
)

export type PublishedKeys = () => Promise<readonly PublicJwk[]>

/**
 * Publishes the key, and sets an end for the other keys in the list.
 * @param pem the key that this process signs with
 */
export async function publishKey(
  store: Pick<KeyValueStore, 'getValue' | 'replaceValue'>,
  pem: string,
  now: () => number,
): Promise<PublishedKeys> {
  const own = createSigningKey(pem).jwk
  const keysIn = (value: Json | undefined): readonly Published[] => parse(list, value ?? [], NAME)

  await changeValue(store, NAME, (before) => {
    const others = keysIn(before)
      .filter(
        ({ jwk: { kid }, until = Number.POSITIVE_INFINITY }) => kid !== own.kid && until > now(),
      )
      .map(({ jwk: other, until = now() + KEPT_MS }) => ({ jwk: other, until }))
    return JSON.parse(JSON.stringify([{ jwk: own }, ...others])) as Json
  })

  let cached: { readonly at: number; readonly keys: readonly PublicJwk[] } | undefined
  return async () => {
    if (cached === undefined || now() - cached.at > FRESH_MS) {
      const valid = keysIn(await store.getValue(NAME)).filter(
        ({ until = Number.POSITIVE_INFINITY }) => until > now(),
      )
      cached = { at: now(), keys: valid.map((one) => one.jwk) }
    }
    return cached.keys
  }
}
