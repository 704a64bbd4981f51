/** The keys that sign webhook deliveries and cards, and their public halves. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { isLullError, LullError } from '../../core/errors.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Json } from '../../core/values/json.ts'
import { parse } from '../../engine/input/parse.ts'
import { changeValue } from '../../engine/upkeep/change-value.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { Store } from '../../ports/store.ts'
import { createSigningKey, type PublicJwk } from '../../protocols/a2a/cards/signing-key.ts'
import type { A2AConfig, A2AOptions } from '../../protocols/a2a/index.ts'
import { replaceSecret, type SecretPlace, secretIn } from './secrets.ts'

/** The keys of an A2A adapter that signs webhook deliveries or cards. Empty if it signs neither. */
export async function signingKeys(
  config: Partial<A2AConfig> | undefined,
  data: string,
  store: Store,
  now: () => number,
): Promise<Pick<A2AOptions, 'pushKey' | 'publishedKeys'>> {
  if (config?.pushSign !== true && config?.signCards !== true) return {}
  const key = await pushKey({ data, store })
  return { pushKey: key, publishedKeys: await publishKey(store, key, now) }
}

/** The PEM of the key that signs webhook deliveries. It is created at first use, as `push.key`. */
export async function pushKey(place: SecretPlace): Promise<string> {
  try {
    return (await secretIn(place, 'push.key', make)).toString('utf8')
  } catch (cause) {
    if (isLullError(cause)) throw cause
    const path = join(place.data, 'push.key')
    const reason = describeError(cause).message
    const why = `the key that signs webhook deliveries cannot be kept in ${path} (${reason})`
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}

/** Creates a new key. The former one stays published for a week after the next start. */
export async function rotatePushKey(place: SecretPlace): Promise<void> {
  await replaceSecret(place, 'push.key', make())
}

function make(): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

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

type PublishedKeys = () => Promise<readonly PublicJwk[]>

/**
 * The public halves of the keys that the server signs with. A replaced key stays published for a
 * week, because receivers may still hold deliveries and cached cards signed with it.
 *
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
