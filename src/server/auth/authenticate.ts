/**
 * Makes the identity of a request from its credential. Without authentication every request is the owner's. With it, a request
 * without a valid credential is refused with 401, except for what is public.
 */
import type { Scope } from '../../core/scopes.ts'
import type { Identity } from './identity.ts'

/** What an authenticator sees of a request. */
export interface AuthRequest {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  header(name: string): string | undefined
  /** Each value of a header that came several times. */
  all?(name: string): readonly string[]
  /** The network address that the request came from. */
  readonly peer?: string | undefined
}

/** What a function of the embedder's own says about a request. */
export interface Authenticated {
  readonly tenant: string
  readonly principal: string
  readonly scopes: readonly Scope[]
  /** The only sources whose events it may send. Default: any. */
  readonly eventSources?: readonly string[] | undefined
  /** When the credential ends, epoch milliseconds. */
  readonly expiresAt?: number | undefined
}

/** Undefined: no valid credential. */
export type AuthenticateRequest = (
  request: AuthRequest,
) => Promise<Authenticated | undefined> | Authenticated | undefined

/** One kind of credential. Undefined when the token is not of this kind, or not valid. */
export interface TokenKind {
  identify(token: string): Promise<Identity | undefined>
  /** Whether a credential that was valid still is. Streams and sockets end with their credential. */
  stillValid?(credentialId: string): Promise<boolean>
}

export type Authenticate = (
  request: AuthRequest,
) => Identity | undefined | Promise<Identity | undefined>

/** Longer tokens are refused before anything is computed. */
const LONGEST_TOKEN = 8_192

export function bearerIn(request: AuthRequest): string | undefined {
  const header = request.header('authorization')
  if (header === undefined || header.length > LONGEST_TOKEN) return undefined
  const [, token] = /^bearer +([\x21-\x7e]+) *$/i.exec(header) ?? []
  return token
}

/** Asks each kind in turn. */
export function byBearer(kinds: readonly TokenKind[]): Authenticate {
  return async (request) => {
    const token = bearerIn(request)
    if (token === undefined) return undefined
    for (const kind of kinds) {
      const identity = await kind.identify(token)
      if (identity !== undefined) return identity
    }
    return undefined
  }
}
