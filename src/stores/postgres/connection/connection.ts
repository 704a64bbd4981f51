/** Parses the address of the database. Only `config` contains the password, and no message does. */
import pg, { type ClientConfig } from 'pg'
import { LullError } from '../../../core/errors.ts'

export interface Place {
  readonly config: ClientConfig
  /** `host:port/database` with the user, for messages. */
  readonly name: string
}

const protocols: readonly string[] = ['postgres://', 'postgresql://']

/** The time limit for a new connection. */
const CONNECT_MS = 5_000
/**
 * A statement without an answer after this time counts as lost, because the network may drop
 * packets silently.
 */
const STATEMENT_MS = 15_000

/**
 * @throws LullError `INVALID_INPUT` at `path`. Its message does not repeat the URL, which may
 * contain a password.
 */
export function readPlace(url: string, path: string): Place {
  const config: ClientConfig = {
    connectionString: strict(url),
    fallback_application_name: 'lull',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
  }
  if (!protocols.some((protocol) => url.startsWith(protocol))) throw invalid(path, NO_ADDRESS)
  try {
    const { user, host, port, database } = new pg.Client(config)
    return { config, name: `${user ?? ''}@${host}:${port}/${database ?? ''}` }
  } catch (error) {
    // Errors of `pg` may contain the address, so they are not passed on as a cause.
    const isFile = error instanceof Error && 'syscall' in error
    throw invalid(path, isFile ? NO_FILE : NO_ADDRESS)
  }
}

const NO_ADDRESS =
  'this is not the address of a PostgreSQL database; give postgres://user@host:5432/database'
const NO_FILE = 'a file that the address names (sslrootcert, sslcert or sslkey) cannot be read'

function invalid(path: string, problem: string): LullError<'INVALID_INPUT'> {
  return new LullError('INVALID_INPUT', { path, problem })
}

/**
 * For `pg` these modes currently mean `verify-full`, and it warns that this will change. Setting
 * `verify-full` explicitly keeps the meaning.
 */
function strict(url: string): string {
  if (url.includes('uselibpqcompat=')) return url
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** @throws LullError `INVALID_INPUT` */
export function readSchema(name: string, path: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(name)) return name
  const problem =
    'this is not the name of a schema; give at most 40 lower-case letters, digits and underscores, not a digit first'
  throw invalid(path, problem)
}
