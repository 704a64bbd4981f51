/**
 * Settings of the process. The environment is read only here; values given by the caller take
 * precedence. The command line loads this file before it loads the server.
 */

import { LullError } from '../../core/errors.ts'
import type { LogLevel } from '../../ports/log.ts'
import { type StoreKind, type StoreWish, storeKinds } from '../store/open-store.ts'

export interface Settings {
  readonly port: number
  readonly host: string
  /** The address on agent cards. Undefined: the configuration file decides. */
  readonly publicUrl: string | undefined
  /** The data directory. */
  readonly data: string
  /** What the caller and the environment say about the store. The first entry has precedence. */
  readonly stores: readonly StoreWish[]
  /** The configuration file, if there is one. */
  readonly config: string | undefined
  readonly receiptKey: string | undefined
  readonly formerReceiptKeys: readonly string[] | undefined
  /** Files with the public receipt keys of other servers. */
  readonly trustedReceiptKeys: readonly string[] | undefined
  /** The server that commands call. Undefined: the one at `host` and `port`. */
  readonly url: string | undefined
  /** The credential that commands use to call a server. */
  readonly token: string | undefined
  /** The secret of this server at the OpenID Connect provider. */
  readonly oidcSecret: string | undefined
  /** The accepted kinds of credentials. Undefined: the configuration file decides. */
  readonly auth: readonly AuthMode[] | undefined
  readonly logLevel: LogLevel
}

export type GivenSettings = StoreWish & {
  readonly [K in Exclude<keyof Settings, 'stores'>]?: Settings[K] | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** @throws LullError `INVALID_INPUT` with the name of the variable */
export function readSettings(given: GivenSettings = {}, env: Environment = process.env): Settings {
  // An empty variable counts as not set.
  const from = (name: string): string | undefined => env[name] || undefined
  return {
    port: given.port ?? portIn(from('PORT'), 'PORT') ?? 8787,
    host: given.host ?? from('HOST') ?? '127.0.0.1',
    publicUrl: given.publicUrl ?? urlIn(from('LULL_PUBLIC_URL'), 'LULL_PUBLIC_URL'),
    data: given.data ?? from('LULL_DATA') ?? './.lull',
    stores: [
      { store: given.store, postgres: given.postgres },
      {
        store: storeIn(from('LULL_STORE'), 'LULL_STORE'),
        postgres: {
          url: from('LULL_POSTGRES'),
          schema: from('LULL_POSTGRES_SCHEMA'),
          direct: from('LULL_POSTGRES_DIRECT'),
        },
      },
    ],
    config: given.config ?? from('LULL_CONFIG'),
    receiptKey: given.receiptKey ?? from('LULL_RECEIPT_KEY'),
    formerReceiptKeys: given.formerReceiptKeys ?? listIn(from('LULL_FORMER_RECEIPT_KEYS')),
    trustedReceiptKeys: given.trustedReceiptKeys ?? listIn(from('LULL_TRUSTED_RECEIPT_KEYS')),
    url: given.url ?? urlIn(from('LULL_URL'), 'LULL_URL'),
    token: given.token ?? from('LULL_TOKEN'),
    oidcSecret: given.oidcSecret ?? from('LULL_OIDC_SECRET'),
    auth: given.auth ?? authIn(from('LULL_AUTH'), 'LULL_AUTH'),
    logLevel: given.logLevel ?? levelIn(from('LOG_LEVEL')) ?? 'info',
  }
}

function listIn(text: string | undefined): readonly string[] | undefined {
  return text?.split(',').map((one) => one.trim())
}

/** Parses kinds of credentials, such as `keys,jwt`. */
export function authIn(text: string | undefined, path: string): readonly AuthMode[] | undefined {
  if (text === undefined) return undefined
  return text.split(',').map((word) => {
    const mode = authModes.find((one) => one === word.trim())
    if (mode !== undefined) return mode
    const problem = `"${word}" is not a kind of credential; give ${authModes.join(' or ')}, or both`
    throw new LullError('INVALID_INPUT', { path, problem })
  })
}

/** Parses a port. 0 lets the system choose. */
export function portIn(text: string | undefined, path: string): number | undefined {
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  const problem = `"${text}" is not a port; give a whole number from 0 to 65535`
  throw new LullError('INVALID_INPUT', { path, problem })
}

/** Parses a web address, and removes a slash at its end. */
function urlIn(text: string | undefined, path: string): string | undefined {
  if (text === undefined) return undefined
  if (/^https?:/i.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  const problem = `"${text}" is not an address; give one such as https://agents.example.com`
  throw new LullError('INVALID_INPUT', { path, problem })
}

/** Parses a kind of store. */
export function storeIn(text: string | undefined, path: string): StoreKind | undefined {
  if (text === undefined) return undefined
  const kind = storeKinds.find((one) => one === text)
  if (kind !== undefined) return kind
  const problem = `"${text}" is not a kind of store; give one of ${storeKinds.join(', ')}`
  throw new LullError('INVALID_INPUT', { path, problem })
}

function levelIn(text: string | undefined): LogLevel | undefined {
  if (text === undefined) return undefined
  const level = levels.find((one) => one === text.toLowerCase())
  if (level !== undefined) return level
  const problem = `"${text}" is not a level; give one of ${levels.join(', ')}`
  throw new LullError('INVALID_INPUT', { path: 'LOG_LEVEL', problem })
}

/** How callers can authenticate. */
export type AuthMode = 'keys' | 'jwt'

export const authModes: readonly [AuthMode, ...AuthMode[]] = ['keys', 'jwt']
