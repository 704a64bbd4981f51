/**
 * The OpenID Connect provider: authorization code with PKCE (RFC 7636). `openid-client` checks
 * state, nonce, issuer, audience, times and signature of what comes back.
 */

import type { JWTPayload } from 'jose'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  type Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { describeError } from '../../../core/values/describe-error.ts'
import type { OidcConfig } from '../auth-config.ts'
import { type GuardedFetch, guardedFetch } from '../guarded-fetch.ts'

/** The provider does not answer. The message says why. */
export class ProviderDown extends Error {
  override readonly name = 'ProviderDown'
}

/** What the browser keeps, sealed, between the two halves of a sign-in. */
export interface Login {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  /** Where the browser is sent. @throws when the provider does not answer */
  begin(): Promise<{ readonly location: string; readonly login: Login }>
  /**
   * The claims of the person who came back.
   * @param url to which the provider sent the browser
   * @throws when the answer is not the one to this login, or the provider does not answer
   */
  finish(url: URL, login: Login): Promise<JWTPayload>
}

/** @param callback the address to which the provider sends the browser back */
export function createProvider(
  config: OidcConfig,
  secret: string | undefined,
  callback: string,
  fetch: GuardedFetch = guardedFetch(config.issuerIsPrivate ?? false),
): Provider {
  let found: Promise<Configuration> | undefined

  function configuration(): Promise<Configuration> {
    found ??= discover().catch((error: unknown) => {
      // The next sign-in asks again.
      found = undefined
      throw error
    })
    return found
  }

  /** @throws ProviderDown */
  async function answering(
    address: string,
    { method, headers, body }: CustomFetchOptions,
  ): Promise<Response> {
    const text = body instanceof URLSearchParams ? body.toString() : undefined
    const response = await fetch(address, { method, headers, body: text }).catch((cause) => {
      throw new ProviderDown(describeError(cause).message, { cause })
    })
    if (response.status < 500) return response
    throw new ProviderDown(`it answers with HTTP ${response.status}`)
  }

  async function discover(): Promise<Configuration> {
    const auth: ClientAuth = secret === undefined ? None() : ClientSecretBasic(secret)
    const execute = [
      enableNonRepudiationChecks,
      ...(config.issuerIsPrivate === true ? [allowInsecureRequests] : []),
    ]
    return discovery(new URL(config.issuer), config.clientId, undefined, auth, {
      execute,
      [customFetch]: (address, request) => answering(address, request),
    })
  }

  return {
    async begin() {
      const provider = await configuration()
      const login = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      }
      const { href } = buildAuthorizationUrl(provider, {
        redirect_uri: callback,
        scope: config.scope ?? 'openid',
        state: login.state,
        nonce: login.nonce,
        code_challenge: await calculatePKCECodeChallenge(login.verifier),
        code_challenge_method: 'S256',
      })
      return { location: href, login }
    },
    async finish(url, { state, nonce, verifier }) {
      const tokens = await authorizationCodeGrant(await configuration(), url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      return tokens.claims() ?? {}
    },
  }
}
