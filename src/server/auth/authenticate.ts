/**
 * Determines the identity of a request from its credential. Without authentication every caller is
 * the owner. With authentication, a request without a valid credential is refused with 401, except
 * on public routes.
 */
import type { Scope } from '../../core/scopes.ts'
import type { Identity } from './identity.ts'

/** What an authenticator can see of a request. */
export interface AuthRequest {
  readonly method: string
  readonly path: string
  /** Reads a header. The name is in lower case. */
  header(name: string): string | undefined
  /** All values of a header that occurs several times. */
  all?(name: string): readonly string[]
  /** The network address that the request came from. */
  readonly peer?: string | undefined
}

/** The result of an embedder's own authentication. */
export interface Authenticated {
  readonly tenant: string
  readonly principal: string
  readonly scopes: readonly Scope[]
  /** The only event sources that the caller may use. Default: any. */
  readonly eventSources?: readonly string[] | undefined
  /** When the credential ends, epoch milliseconds. */
  readonly expiresAt?: number | undefined
}

/** Authenticates a request. Undefined: it has no valid credential. */
export type AuthenticateRequest = (
  request: AuthRequest,
) => Promise<Authenticated | undefined> | Authenticated | undefined

/**
 * One kind of bearer token. `identify` returns undefined if the token is not of this kind or not
 * valid.
 */
export interface TokenKind {
  identify(token: string): Promise<Identity | undefined>
  /**
   * Whether a credential is still valid. Streams and sockets are closed when their credential ends.
   */
  stillValid?(credentialId: string): Promise<boolean>
}

export type Authenticate = (
  request: AuthRequest,
) => Identity | undefined | Promise<Identity | undefined>

/** Longer tokens are refused without any computation. */
const LONGEST_TOKEN = 8_192

export function bearerIn(request: AuthRequest): string | undefined {
  const header = request.header('authorization')
  if (header === undefined || header.length > LONGEST_TOKEN) return undefined
  const [, token] = /^bearer +([\x21-\x7e]+) *$/i.exec(header) ?? []
  return token
}

/** Tries each kind of token in turn. */
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
