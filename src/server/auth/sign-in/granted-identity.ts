/**
 * Maps the claims of a person who signed in to an identity.
 *
 * G1  Whom no grant matches, or whose tenant or name is missing, is refused.
 * G2  A claim never names the tenant `*`. Only the configuration does.
 */
import type { JWTPayload } from 'jose'
import type { Scope } from '../../../core/scopes.ts'
import { ALL_TENANTS } from '../../../engine/caller.ts'
import type { OidcConfig, OidcGrant } from '../auth-config.ts'
import { isName } from '../jwt-authentication.ts'

export interface Person {
  readonly tenant: string
  readonly principal: string
  readonly scopes: readonly Scope[]
}

/** Undefined: the person is refused. */
export function personIn(claims: JWTPayload, config: OidcConfig): Person | undefined {
  const { principalClaim = 'sub', tenant = tenantIn(claims, config), grants } = config
  const principal = claims[principalClaim]
  const scopes = [...new Set(grants.filter((one) => isMatch(one, claims)).flatMap(scopesOf))]
  if (!isName(principal) || tenant === undefined || scopes.length === 0) return undefined
  return { tenant, principal, scopes }
}

const scopesOf = ({ scopes }: OidcGrant): readonly Scope[] => scopes

function tenantIn(claims: JWTPayload, { tenantClaim = 'tenant' }: OidcConfig): string | undefined {
  const named = claims[tenantClaim]
  return isName(named) && named !== ALL_TENANTS ? named : undefined
}

function isMatch({ claim, value }: OidcGrant, claims: JWTPayload): boolean {
  if (!Object.hasOwn(claims, claim)) return false
  const found = claims[claim]
  return Array.isArray(found) ? found.includes(value) : found === value
}
