/** Where the database is. The password is in `config` alone, and in no message. */
import type { ClientConfig } from 'pg'
import { LullError } from '../../core/errors.ts'

export interface Place {
  readonly config: ClientConfig
  /** `host:port/database` with the user, for messages. */
  readonly name: string
}

const protocols: ReadonlySet<string> = new Set(['postgres:', 'postgresql:'])

/** How long a new connection may take. */
const CONNECT_MS = 5_000
/** A statement that takes longer counts as lost: the network may drop packets without a word. */
const STATEMENT_MS = 15_000

/** @throws LullError `INVALID_INPUT` at `path`. Its message does not repeat the text, which may have a password. */
export function readPlace(url: string, path: string): Place {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !protocols.has(parsed.protocol)) {
    const problem =
      'is not the address of a PostgreSQL database; give postgres://user@host:5432/database'
    throw new LullError('INVALID_INPUT', { path, problem })
  }
  const { hostname, port, username, pathname } = parsed
  const host = hostname || parsed.searchParams.get('host') || 'localhost'
  const user = username === '' ? '' : `${decodeURIComponent(username)}@`
  return {
    name: `${user}${host}:${port || '5432'}${pathname}`,
    config: {
      connectionString: url,
      application_name: 'lull',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: STATEMENT_MS,
      keepAlive: true,
    },
  }
}

/** The database for people: without its password. */
export function databaseName(url: string): string {
  return `PostgreSQL (${readPlace(url, 'postgres').name})`
}

/** @throws LullError `INVALID_INPUT` */
export function readSchema(name: string, path: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(name)) return name
  const problem =
    'is not the name of a schema; give at most 40 lower-case letters, digits and underscores, not a digit first'
  throw new LullError('INVALID_INPUT', { path, problem })
}
