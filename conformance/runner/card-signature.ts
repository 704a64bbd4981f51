/** Verifies the signatures of a card with the keys its headers point to: JWS (RFC 7515) over JCS (RFC 8785). */
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { at, entries, isObject, list } from '../values.ts'

/** RFC 8785 for the JSON of a card: sorted keys, no space; numbers and strings as JSON.stringify writes them. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const sorted = entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

const ALGORITHMS: Readonly<Record<string, { readonly hash: string | null; readonly ec: boolean }>> =
  {
    ES256: { hash: 'sha256', ec: true },
    ES384: { hash: 'sha384', ec: true },
    RS256: { hash: 'sha256', ec: false },
    EdDSA: { hash: null, ec: false },
  }

export async function signatureProblem(card: unknown): Promise<string | undefined> {
  if (!isObject(card)) return 'no card'
  const { signatures, ...unsigned } = card
  const payload = Buffer.from(canonical(unsigned)).toString('base64url')
  for (const signature of list(signatures)) {
    const head = String(at(signature, 'protected'))
    const header: unknown = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))
    const algorithm = ALGORITHMS[String(at(header, 'alg'))]
    const key = await keyFor(at(header, 'jku'), at(header, 'kid'))
    if (algorithm === undefined) return `algorithm ${String(at(header, 'alg'))}`
    if (key === undefined) return `no key ${String(at(header, 'kid'))}`
    const holds = verify(
      algorithm.hash,
      Buffer.from(`${head}.${payload}`),
      {
        key: createPublicKey({ key, format: 'jwk' }),
        ...(algorithm.ec ? { dsaEncoding: 'ieee-p1363' } : {}),
      },
      Buffer.from(String(at(signature, 'signature')), 'base64url'),
    )
    if (!holds) return `the signature of ${String(at(header, 'kid'))} does not hold`
  }
  return undefined
}

async function keyFor(jku: unknown, kid: unknown): Promise<JsonWebKey | undefined> {
  if (typeof jku !== 'string') return undefined
  const set: unknown = await (await fetch(jku, { signal: AbortSignal.timeout(5_000) })).json()
  return list(at(set, 'keys')).find((key) => at(key, 'kid') === kid) as JsonWebKey | undefined
}
