/** The public keys of a Lull server: fetched when needed, kept for some minutes, and fetched again for a key that is new. */
import type { Fetch } from './wire/http-client.ts'
import { isObject, listIn, textIn } from './wire/json-members.ts'

export interface PublicKey {
  readonly kid: string
  readonly x: string
  readonly y: string
}

export interface KeySetOptions {
  /** The address of the server, without the path of an agent. Its keys are at `/.well-known/jwks.json`. */
  readonly server: string
  readonly fetch?: Fetch | undefined
  /** Epoch milliseconds. Default: the clock of this machine. */
  readonly now?: (() => number) | undefined
}

/** Finds a key by its id. Undefined: the server does not have it. */
export type KeySet = (kid: string) => Promise<PublicKey | undefined>

const FRESH_MS = 300_000
/** A signature with an unknown key makes this program ask the server, but not more often than this. */
const COOLDOWN_MS = 30_000

export function createKeySet({ server, fetch, now = Date.now }: KeySetOptions): KeySet {
  const url = `${server.replace(/\/+$/, '')}/.well-known/jwks.json`
  const ask = fetch ?? globalThis.fetch
  let read: { readonly at: number; readonly keys: readonly PublicKey[] } | undefined

  async function refreshed(): Promise<readonly PublicKey[]> {
    const response = await ask(url, { redirect: 'error', headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`${url} answers ${response.status}`)
    const document: unknown = await response.json()
    const keys = isObject(document) ? listIn(document, 'keys').flatMap(keyIn) : []
    read = { at: now(), keys }
    return keys
  }

  return async (kid) => {
    const age = read === undefined ? Number.POSITIVE_INFINITY : now() - read.at
    const find = (keys: readonly PublicKey[]) => keys.find((key) => key.kid === kid)
    const known = age < FRESH_MS && read !== undefined ? find(read.keys) : undefined
    return known ?? (age < COOLDOWN_MS ? undefined : find(await refreshed()))
  }
}

/** Only P-256 keys for signatures: no other kind is taken for one. */
function keyIn(one: Parameters<typeof textIn>[0]): readonly PublicKey[] {
  const [kty, crv, kid, x, y] = ['kty', 'crv', 'kid', 'x', 'y'].map((name) => textIn(one, name))
  if (kty !== 'EC' || crv !== 'P-256') return []
  return kid === undefined || x === undefined || y === undefined ? [] : [{ kid, x, y }]
}
