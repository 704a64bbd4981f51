/**
 * Texts that a browser keeps for the server: encrypted and authenticated, so that it can neither
 * read nor change them. Each has a purpose, so that one is never taken for another.
 */
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose'

/** `login`: a sign-in that has begun. `session`: a person who has signed in. */
export type Purpose = 'login' | 'session'

export interface Sealed {
  seal(purpose: Purpose, content: JWTPayload, endsAt: number): Promise<string>
  /** Undefined if the text is not sealed by this server for this purpose, or has ended. */
  open(purpose: Purpose, text: string): Promise<JWTPayload | undefined>
}

/**
 * @param key 32 bytes
 * @param audience what the texts are valid for; another configuration has another one
 * @param now the wall clock, epoch milliseconds
 */
export function createSealed(
  key: () => Promise<Uint8Array>,
  audience: string,
  now: () => number,
): Sealed {
  return {
    seal: async (purpose, content, endsAt) =>
      new EncryptJWT(content)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuer(purpose)
        .setAudience(audience)
        .setExpirationTime(Math.floor(endsAt / 1_000))
        .encrypt(await key()),
    async open(purpose, text) {
      try {
        const { payload } = await jwtDecrypt(text, await key(), {
          issuer: purpose,
          audience,
          currentDate: new Date(now()),
          requiredClaims: ['exp'],
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        })
        return payload
      } catch (error) {
        if (error instanceof Error && 'code' in error && isOfJose(error.code)) return undefined
        throw error
      }
    },
  }
}

const isOfJose = (code: unknown): boolean =>
  typeof code === 'string' && /^ERR_(JWE|JWT|JOSE)/.test(code)
