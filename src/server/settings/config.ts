/**
 * The configuration file, in JSON. Every member is optional. Unknown members are refused with their
 * path.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { describeError } from '../../core/values/describe-error.ts'
import type { WithDurations } from '../../core/values/duration.ts'
import { parse } from '../../engine/input/parse.ts'
import { duration, positiveDuration } from '../../engine/input/primitives.ts'
import {
  defaultOptions,
  type EngineOptions,
  type EngineSettings,
  isShare,
  NOT_A_SHARE,
} from '../../engine/options.ts'
import type { A2AConfig } from '../../protocols/a2a/index.ts'
import type { AcpConfig } from '../../protocols/acp/index.ts'
import type { AdmissionLimits } from '../auth/admission.ts'
import { type AuthConfig, authConfig } from '../auth/auth-config.ts'
import { StartError } from '../process/start-error.ts'
import { type PostgresConfig, type StoreKind, storeKinds } from '../store/open-store.ts'

export interface ServerConfig {
  /** The kind of store. */
  readonly store?: StoreKind | undefined
  /** The PostgreSQL database: its address, or an object with address, schema and direct address. */
  readonly postgres?: string | PostgresConfig | undefined
  /** Limits and durations of the engine. */
  readonly engine?: EngineSettings | undefined
  /** Additional host names of the server. `.example.com` stands for every name below it. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins of web pages that may call the server, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[] | undefined
  readonly bodyLimitBytes?: number | undefined
  /** Where a trace is shown, such as `https://tracing.example.com/trace/{traceId}`. The dashboard links to it. */
  readonly traceUrl?: string | undefined
  /**
   * The address at which clients reach the server, if it differs from the one on which it listens.
   */
  readonly publicUrl?: string | undefined
  /** How callers authenticate. */
  readonly auth?: AuthConfig | undefined
  /** Limits for callers with a credential. */
  readonly limits?: Partial<AdmissionLimits> | undefined
  readonly a2a?: Partial<WithDurations<A2AConfig>> | undefined
  readonly acp?: Partial<AcpConfig> | undefined
}

/** The validated configuration. Durations are in milliseconds. */
export interface CheckedConfig extends Omit<ServerConfig, 'engine' | 'a2a'> {
  readonly engine?: Partial<EngineOptions> | undefined
  readonly a2a?: Partial<A2AConfig> | undefined
}

const count = z.number().nonnegative()

function engineOption(name: string, value: unknown): z.ZodType {
  if (typeof value === 'boolean') return z.boolean()
  if (name === 'tenantShare') return z.number().refine(isShare, NOT_A_SHARE)
  return name.endsWith('Ms') ? duration : count
}

const engine = z.strictObject(
  Object.fromEntries(
    Object.entries(defaultOptions).map(([name, value]) => [
      name,
      engineOption(name, value).optional(),
    ]),
  ),
)

/** One schema per option of A2A. A new option does not compile until it is here. */
const a2aOptions: { readonly [K in keyof A2AConfig]: z.ZodType<A2AConfig[K]> } = {
  v03States: z.enum(['rfc', 'core']),
  heartbeatMs: positiveDuration,
  grpcAddress: z.string().regex(/^[^\s/]+:\d{1,5}$/, 'must be host:port'),
  grpc: z.boolean(),
  consentState: z.enum(['auth-required', 'input-required']),
  pushToPrivate: z.boolean(),
  pushTimeoutMs: duration,
  webhooks: count,
  historyBytes: count,
  pushSign: z.boolean(),
  signCards: z.boolean(),
  harnTunnel: z.boolean(),
  binduPausableStates: z.array(z.enum(['submitted', 'working', 'input-required'])),
}

const a2a = z.strictObject(a2aOptions).partial() as z.ZodType<Partial<A2AConfig>>

/** One schema per option of ACP. */
const acpOptions: { readonly [K in keyof AcpConfig]: z.ZodType<AcpConfig[K]> } = {
  connections: z.number().int().positive(),
  harnTunnel: z.boolean(),
}

const acp = z.strictObject(acpOptions).partial() as z.ZodType<Partial<AcpConfig>>

const limitOptions: { readonly [K in keyof AdmissionLimits]: z.ZodType<AdmissionLimits[K]> } = {
  requestsPerSecond: z.number().positive(),
  requestsOpen: z.number().int().positive(),
  tenantFactor: z.number().min(1),
  bytesInFlight: z.number().int().positive(),
}

const limits = z.strictObject(limitOptions).partial() as z.ZodType<Partial<AdmissionLimits>>

const settings: { readonly [K in keyof Required<ServerConfig>]: z.ZodType } = {
  store: z.enum(storeKinds).optional(),
  postgres: z
    .union([
      z.string(),
      z.strictObject({
        url: z.string(),
        schema: z.string().optional(),
        direct: z.string().optional(),
      }),
    ])
    .optional(),
  engine: engine.optional(),
  allowedHosts: z.array(z.string().min(1)).optional(),
  allowedOrigins: z.array(z.url()).optional(),
  bodyLimitBytes: z.number().int().positive().optional(),
  traceUrl: z
    .string()
    .regex(/^https?:\/\/.*\{traceId\}/, 'must be an address with {traceId}')
    .optional(),
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .transform(withoutSlash)
    .optional(),
  auth: authConfig.optional(),
  limits: limits.optional(),
  a2a: a2a.optional(),
  acp: acp.optional(),
}

/** Sections that are merged member by member. */
const sections = ['engine', 'auth', 'limits', 'a2a', 'acp'] as const

const settingNames = Object.keys(settings) as (keyof ServerConfig)[]

export const serverConfig: z.ZodType<CheckedConfig> = z.strictObject(
  settings,
) as z.ZodType<CheckedConfig>

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** @throws StartError, or LullError `INVALID_INPUT` with the path of the first error */
export function readConfig(file: string | undefined, given: ServerConfig = {}): CheckedConfig {
  const kept = file === undefined ? {} : parse(serverConfig, readJson(file), file)
  const own = parse(serverConfig, settingsIn(given))
  const merged = sections.flatMap((name) =>
    kept[name] === undefined && own[name] === undefined
      ? []
      : [[name, { ...kept[name], ...own[name] }]],
  )
  return { ...kept, ...own, ...Object.fromEntries(merged) }
}

/** Picks the settings from an object that may have other members. */
function settingsIn(given: ServerConfig): ServerConfig {
  const named = settingNames.map((name) => [name, given[name]])
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const why = describeError(cause).message
    const text =
      cause instanceof SyntaxError
        ? `The configuration file ${file} is not JSON: ${why}.`
        : `The configuration file ${file} cannot be read: ${why}.`
    throw new StartError(text, { cause })
  }
}
