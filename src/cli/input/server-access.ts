/** The server that a command calls: its address, the credential, and clients for it. */
import { type Client, createClient } from '../../client/client.ts'
import { createOps, type Ops } from '../../client/ops-client.ts'
import { readSettings } from '../../server/settings/settings.ts'
import { type Flag, type Input, UsageError } from '../command.ts'

export const urlFlag: Readonly<Record<string, Flag>> = {
  url: {
    value: 'url',
    about: 'Server to ask (LULL_URL, or HOST and PORT, default http://127.0.0.1:8787)',
  },
}

/** @throws UsageError */
export function clientFor(url: string): Client {
  return createClient({ url: expectHttp(url), headers: credentials() })
}

export function clientOf(input: Input): Client {
  return createClient({ url: serverUrl(input), headers: credentials() })
}

/** Without a credential the caller owns the server and sees all tenants. A credential has its own tenant. */
export function opsFor(url: string): Ops {
  const headers = credentials()
  return createOps(headers['authorization'] === undefined ? { url, tenant: '*' } : { url, headers })
}

export function opsOf(input: Input): Ops {
  return opsFor(serverUrl(input))
}

/** The credential comes from the environment, because flags stay in the history of the shell. */
export function credentials(): Readonly<Record<string, string>> {
  const { token } = readSettings()
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** @throws UsageError */
export function serverUrl(input: Input): string {
  return expectHttp(input.text('url') ?? defaultUrl())
}

function expectHttp(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new UsageError(`"${url}" is not an http address`)
}

function defaultUrl(): string {
  const { url, host, port } = readSettings()
  if (url !== undefined) return url
  // A server can listen on these addresses, but nobody can call them.
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
