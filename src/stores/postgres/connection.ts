/** Where the database is. The password is in `config` alone, and in no message. */
import pg, { type ClientConfig } from 'pg'
import { LullError } from '../../core/errors.ts'

export interface Place {
  readonly config: ClientConfig
  /** `host:port/database` with the user, for messages. */
  readonly name: string
}

const protocols: readonly string[] = ['postgres://', 'postgresql://']

/** How long a new connection may take. */
const CONNECT_MS = 5_000
/** A statement that takes longer counts as lost: the network may drop packets without a word. */
const STATEMENT_MS = 15_000

/** @throws LullError `INVALID_INPUT` at `path`. Its message does not repeat the text, which may have a password. */
export function readPlace(url: string, path: string): Place {
  const config: ClientConfig = {
    connectionString: url,
    fallback_application_name: 'lull',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
  }
  const name = protocols.some((protocol) => url.startsWith(protocol)) ? nameOf(config) : undefined
  if (name !== undefined) return { name, config }
  const problem =
    'this is not the address of a PostgreSQL database; give postgres://user@host:5432/database'
  throw new LullError('INVALID_INPUT', { path, problem })
}

/** Undefined when `pg` cannot read the address. Its error has the address, so the error is dropped. */
function nameOf(config: ClientConfig): string | undefined {
  try {
    const { user, host, port, database } = new pg.Client(config)
    return `${user ?? ''}@${host}:${port}/${database ?? ''}`
  } catch {
    return undefined
  }
}

/** @throws LullError `INVALID_INPUT` */
export function readSchema(name: string, path: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(name)) return name
  const problem =
    'this is not the name of a schema; give at most 40 lower-case letters, digits and underscores, not a digit first'
  throw new LullError('INVALID_INPUT', { path, problem })
}
