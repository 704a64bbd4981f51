/** Where the database is. The password is in `config` alone, and in no message. */
import pg, { type ClientConfig } from 'pg'
import { LullError } from '../../../core/errors.ts'

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
    // Errors of `pg` have the address, so they are dropped.
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

/** For `pg` these modes mean `verify-full`, and it warns that this will change. Asking for `verify-full` keeps it so. */
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
