/** Shared by the commands that call a server. */
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create-client.ts'
import type { OpsOptions } from '../../client/ops-client.ts'
import type { Json } from '../../core/json.ts'
import { readSettings } from '../../server/settings.ts'
import { type Flag, type Input, UsageError } from '../command.ts'

export const urlFlag: Readonly<Record<string, Flag>> = {
  url: {
    value: 'url',
    about: 'Server to ask (default http://127.0.0.1:8787, or as HOST and PORT say)',
  },
}

/** @throws UsageError */
export function clientFor(url: string): Client {
  return createClient({ url: checked(url), headers: credentials() })
}

export function clientOf(input: Input): Client {
  return createClient({ url: serverUrl(input), headers: credentials() })
}

/** For `createOps`: the owner of a server sees all tenants, a credential has its own. */
export function opsOptions(url: string): OpsOptions {
  const headers = credentials()
  return headers['authorization'] === undefined ? { url, tenant: '*' } : { url, headers }
}

/** The credential of every call, from the environment: what is typed stays in the history of the shell. */
export function credentials(): Readonly<Record<string, string>> {
  const { token } = readSettings()
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** @throws UsageError */
export function serverUrl(input: Input): string {
  return checked(input.text('url') ?? defaultUrl())
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new UsageError(`"${url}" is not an http address`)
}

function defaultUrl(): string {
  const { host, port } = readSettings()
  // These are addresses to listen on. They cannot be called.
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

export function jsonIn(input: Input, flag: string): Json | undefined {
  const text = input.text(flag)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new UsageError(`--${flag} takes JSON, such as '"text"' or '{"a": 1}'`, { cause })
  }
}
