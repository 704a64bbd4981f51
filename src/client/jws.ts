/** Signatures with ES256 (RFC 7515). Other algorithms are refused, whatever a header says. */
import type { KeySet } from './key-set.ts'
import { isObject } from './wire/json-members.ts'

export type Signed =
  | { readonly ok: true; readonly kid: string }
  | { readonly ok: false; readonly problem: string }

/** @param payload in base64url, as it was signed */
export async function verifyJws(
  header: string,
  payload: string,
  signature: string,
  keys: KeySet,
): Promise<Signed> {
  const said = jsonIn(header)
  if (!isObject(said) || said['alg'] !== 'ES256' || typeof said['kid'] !== 'string') {
    return { ok: false, problem: 'is not signed with ES256 and a named key' }
  }
  const key = await keys(said['kid'])
  if (key === undefined)
    return { ok: false, problem: `is signed with an unknown key, ${said['kid']}` }
  const bytes = bytesIn(signature)
  if (bytes === undefined) return { ok: false, problem: 'has a signature that is not base64url' }
  const { subtle } = globalThis.crypto
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const jwk = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y }
  const imported = await subtle.importKey('jwk', jwk, algorithm, false, ['verify'])
  const text = new TextEncoder().encode(`${header}.${payload}`)
  const isGenuine = await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, imported, bytes, text)
  return isGenuine ? { ok: true, kid: key.kid } : { ok: false, problem: 'has a wrong signature' }
}

/** The JSON in base64url; undefined when there is none. */
export function jsonIn(text: string): unknown {
  const bytes = bytesIn(text)
  try {
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

export function toBase64Url(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function bytesIn(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
