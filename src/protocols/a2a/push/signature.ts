/**
 * Signs webhook deliveries with a JWT (ES256) over each body. Receivers check it with the key at `/.well-known/jwks.json`.
 * Without a signature a receiver cannot tell this server from anybody who knows its address. A2A defines no claims. Existing
 * receivers check `request_body_sha256` in a bearer token. `aud` binds the token to one receiver.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { LullError } from '../../../core/errors.ts'

export interface PushSigner {
  /** The headers of a delivery, with the signature. */
  signed(url: URL, headers: Headers, body: string): Headers
  /** The public half, as a JSON Web Key Set. */
  readonly jwks: string
}

type Headers = Readonly<Record<string, string>>

/** Always sent. `Authorization`, which existing receivers read, may hold the receiver's own credentials instead. */
const SIGNATURE_HEADER = 'x-lull-signature'

/** Covers the transport and clock differences. A retry is signed again. */
const VALID_S = 300

export function createPushSigner(options: {
  /** PEM of a P-256 private key. */
  readonly key: string
  readonly issuer: string
  readonly now: () => number
  readonly uuid: () => string
}): PushSigner {
  const { issuer, now, uuid } = options
  const key = p256(options.key)
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  // RFC 7638 fixes these members and their order, so a key has the same id everywhere.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
  const header = encoded({ alg: 'ES256', typ: 'JWT', kid })

  function tokenFor(url: URL, body: string): string {
    const iat = Math.floor(now() / 1_000)
    const claims = encoded({
      iss: issuer,
      aud: url.href,
      iat,
      exp: iat + VALID_S,
      jti: uuid(),
      request_body_sha256: createHash('sha256').update(body).digest('hex'),
    })
    const text = `${header}.${claims}`
    // JWS uses the concatenated numbers. The default encoding is DER.
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }

  return {
    signed(url, headers, body) {
      const token = tokenFor(url, body)
      return { authorization: `Bearer ${token}`, ...headers, [SIGNATURE_HEADER]: token }
    },
    jwks: JSON.stringify({ keys: [{ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }] }),
  }
}

function p256(pem: string): KeyObject {
  const problem = 'must be the PEM of a P-256 private key'
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (cause) {
    throw new LullError('INVALID_INPUT', { path: 'pushKey', problem }, { cause })
  }
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new LullError('INVALID_INPUT', { path: 'pushKey', problem })
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
