/**
 * Signs webhook deliveries with a JWT (ES256) over each body. Receivers verify it with the key at
 * `/.well-known/jwks.json`. Without a signature a receiver cannot distinguish this server from
 * anybody who knows its address. A2A defines no claims; existing receivers check
 * `request_body_sha256` in a bearer token. `aud` binds the token to one receiver.
 */
import { createHash } from 'node:crypto'
import { encoded, type SigningKey } from '../cards/signing-key.ts'

export interface PushSigner {
  /** The headers of a delivery, including the signature. */
  signed(url: URL, headers: Headers, body: string): Headers
}

type Headers = Readonly<Record<string, string>>

/**
 * This header is always sent. `Authorization`, which existing receivers read, may contain the
 * receiver's own credentials instead.
 */
const SIGNATURE_HEADER = 'x-lull-signature'

/** Long enough for the transport and for clock differences. A retry is signed again. */
const VALID_S = 300

export function createPushSigner(options: {
  readonly key: SigningKey
  readonly issuer: string
  readonly now: () => number
  readonly uuid: () => string
}): PushSigner {
  const { key, issuer, now, uuid } = options
  const header = encoded({ alg: 'ES256', typ: 'JWT', kid: key.kid })

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
    return `${text}.${key.signatureOf(text)}`
  }

  return {
    signed(url, headers, body) {
      const token = tokenFor(url, body)
      return { authorization: `Bearer ${token}`, ...headers, [SIGNATURE_HEADER]: token }
    },
  }
}
