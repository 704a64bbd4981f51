/** The configuration of authentication. Without any, every caller is the owner. */
import { z } from 'zod'
import { type Scope, scopes } from '../../core/scopes.ts'
import { ALL_TENANTS } from '../../engine/caller.ts'
import { type AuthMode, authModes } from '../settings/settings.ts'

export interface AuthConfig {
  /** The kinds of credentials that are accepted. */
  readonly modes?: readonly AuthMode[] | undefined
  readonly jwt?: JwtConfig | undefined
  /** Trusts a proxy that checks client certificates. */
  readonly proxy?: ProxyConfig | undefined
  /** Signs people in to the dashboard with OpenID Connect. */
  readonly oidc?: OidcConfig | undefined
}

export interface ProxyConfig {
  /** The addresses and networks of the proxy, such as `10.0.0.7` or `10.0.0.0/24`. */
  readonly addresses: readonly string[]
  /**
   * The header that contains the principal. The proxy must replace any value that a client sends.
   */
  readonly principalHeader: string
  readonly tenantHeader?: string | undefined
  /** The tenant of callers if there is no `tenantHeader`. Default `default`. */
  readonly tenant?: string | undefined
  /** The scopes of every caller that comes through the proxy. */
  readonly scopes: readonly Scope[]
}

export interface JwtConfig {
  readonly issuer: string
  readonly audience: string
  /** Default: the URL in the issuer's OpenID Connect discovery document. */
  readonly jwksUrl?: string | undefined
  readonly algorithms?: readonly JwtAlgorithm[] | undefined
  /** How far the clocks of issuer and server may differ. Default 30. */
  readonly clockSkewSeconds?: number | undefined
  /**
   * The claim that contains the tenant. Default `tenant`. A token without it belongs to the tenant
   * `default`.
   */
  readonly tenantClaim?: string | undefined
  /** Allows an issuer on a private address. */
  readonly issuerIsPrivate?: boolean | undefined
}

export interface OidcConfig {
  /** The provider. Its discovery document is at `/.well-known/openid-configuration` below it. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for a public client, which has PKCE alone. `LULL_OIDC_SECRET` wins. */
  readonly clientSecret?: string | undefined
  /** The scopes that are asked of the provider. Default `openid`. */
  readonly scope?: string | undefined
  /** The claim that names the principal. Default `sub`. */
  readonly principalClaim?: string | undefined
  /** The tenant of everybody who signs in. `*` is for operators of all tenants. */
  readonly tenant?: string | undefined
  /** The claim that names the tenant, if `tenant` is absent. Default `tenant`. */
  readonly tenantClaim?: string | undefined
  /** Who may do what. Whom no grant matches is refused. */
  readonly grants: readonly OidcGrant[]
  /** How long a session lasts. Default 12 hours. */
  readonly sessionHours?: number | undefined
  /** Allows an issuer on a private address. */
  readonly issuerIsPrivate?: boolean | undefined
}

/** Gives scopes to everybody whose claim is the value, or is a list that has it. */
export interface OidcGrant {
  readonly claim: string
  readonly value: string
  readonly scopes: readonly Scope[]
}

export type JwtAlgorithm =
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'RS256'
  | 'RS384'
  | 'RS512'

const algorithms: Readonly<Record<JwtAlgorithm, true>> = {
  ES256: true,
  ES384: true,
  ES512: true,
  EdDSA: true,
  PS256: true,
  PS384: true,
  PS512: true,
  RS256: true,
  RS384: true,
  RS512: true,
}

export const jwtAlgorithms: readonly JwtAlgorithm[] = Object.keys(algorithms) as JwtAlgorithm[]

const jwt: { readonly [K in keyof Required<JwtConfig>]: z.ZodType<JwtConfig[K]> } = {
  issuer: z.url({ protocol: /^https?$/ }),
  audience: z.string().min(1),
  jwksUrl: z.url({ protocol: /^https?$/ }).optional(),
  algorithms: z
    .array(z.enum(jwtAlgorithms as [JwtAlgorithm, ...JwtAlgorithm[]]))
    .min(1)
    .optional(),
  clockSkewSeconds: z.number().min(0).max(600).optional(),
  tenantClaim: z.string().min(1).optional(),
  issuerIsPrivate: z.boolean().optional(),
}

const scopeList = z.array(z.enum(scopes as [Scope, ...Scope[]]))

const headerName = z.string().regex(/^[\w-]{1,64}$/, 'must be the name of a header')

const proxy: { readonly [K in keyof Required<ProxyConfig>]: z.ZodType<ProxyConfig[K]> } = {
  addresses: z.array(z.string()).min(1),
  principalHeader: headerName,
  tenantHeader: headerName.optional(),
  tenant: z.string().min(1).max(256).optional(),
  scopes: scopeList,
}

const name = z.string().min(1).max(256)

const grant: { readonly [K in keyof Required<OidcGrant>]: z.ZodType<OidcGrant[K]> } = {
  claim: name,
  value: name,
  scopes: scopeList.min(1),
}

const oidc: { readonly [K in keyof Required<OidcConfig>]: z.ZodType<OidcConfig[K]> } = {
  issuer: z.url({ protocol: /^https?$/ }),
  clientId: name,
  clientSecret: name.optional(),
  scope: z
    .string()
    .regex(/(?:^| )openid(?: |$)/, 'must have openid')
    .optional(),
  principalClaim: name.optional(),
  tenant: name.optional(),
  tenantClaim: name.optional(),
  grants: z.array(z.strictObject(grant) as z.ZodType as z.ZodType<OidcGrant>),
  sessionHours: z.number().min(0.01).max(720).optional(),
  issuerIsPrivate: z.boolean().optional(),
}

function foreignScopes({ tenant, grants }: OidcConfig): readonly string[] {
  if (tenant !== ALL_TENANTS) return []
  return grants.flatMap((one) => one.scopes).filter((scope) => !scope.startsWith('ops:'))
}

export const authConfig: z.ZodType<AuthConfig> = z.strictObject({
  modes: z.array(z.enum(authModes)).optional(),
  jwt: (z.strictObject(jwt) as z.ZodType as z.ZodType<JwtConfig>).optional(),
  proxy: (z.strictObject(proxy) as z.ZodType as z.ZodType<ProxyConfig>).optional(),
  oidc: (z.strictObject(oidc) as z.ZodType as z.ZodType<OidcConfig>)
    .refine((config) => foreignScopes(config).length === 0, {
      path: ['grants'],
      error: 'must have ops scopes only, because the tenant is *',
    })
    .optional(),
})
