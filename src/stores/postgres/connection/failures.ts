/**
 * What a failure of PostgreSQL means (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 *
 *   content   a value cannot be stored; the same write would fail again
 *   retry     nothing was written; the same statement may succeed now or soon
 *   lost      the connection ended or did not answer; the statement may have had its effect
 *   refused   the store as a whole cannot be used until an operator acts
 */
import pg from 'pg'
import { LullError } from '../../../core/errors.ts'

export interface Failure {
  readonly kind: 'content' | 'retry' | 'lost' | 'refused'
  /** The failure as a sentence for operators. */
  readonly why: string
}

const contentClasses: ReadonlySet<string> = new Set(['22', '23', '54'])

/** Meanings by SQLSTATE, or by its class (the first two characters). */
const meanings: Readonly<Record<string, Failure>> = {
  '08': { kind: 'lost', why: 'the connection to PostgreSQL was lost' },
  '25006': { kind: 'retry', why: 'PostgreSQL is read-only; connect to the primary server' },
  '28': {
    kind: 'refused',
    why: 'PostgreSQL refused the user or the password; check LULL_POSTGRES',
  },
  '3D000': { kind: 'refused', why: 'the database does not exist; create it, or name another one' },
  '3F000': { kind: 'refused', why: 'the schema of Lull does not exist; restart Lull to create it' },
  '40': { kind: 'retry', why: 'PostgreSQL could not serialize the write' },
  '42': {
    kind: 'refused',
    why: 'the tables in PostgreSQL are not those this version of Lull expects',
  },
  '42501': {
    kind: 'refused',
    why: 'the user of PostgreSQL lacks a right; let it create and use the schema of Lull',
  },
  '53': { kind: 'retry', why: 'PostgreSQL is short of a resource' },
  '53100': { kind: 'refused', why: 'the disk of PostgreSQL is full; free some space' },
  '53200': { kind: 'retry', why: 'PostgreSQL is out of memory' },
  '53300': {
    kind: 'retry',
    why: 'PostgreSQL has no free connection; raise max_connections or run fewer processes',
  },
  '55': { kind: 'retry', why: 'PostgreSQL did not get a lock in time' },
  '57': { kind: 'retry', why: 'PostgreSQL ended the statement' },
  '57014': {
    kind: 'retry',
    why: 'PostgreSQL ended a statement that took too long; another program may have locked a table',
  },
  // The statement may have been committed before the server ended the connection.
  '57P01': { kind: 'lost', why: 'PostgreSQL is shutting down' },
  '57P02': { kind: 'lost', why: 'PostgreSQL has crashed' },
  '57P03': { kind: 'retry', why: 'PostgreSQL is starting or stopping' },
  '57P05': { kind: 'lost', why: 'PostgreSQL closed an idle connection' },
  '58': { kind: 'retry', why: 'the disk of PostgreSQL reported an error; look at its log' },
  XX: { kind: 'refused', why: 'PostgreSQL reported an internal error; look at its log' },
}

/** Failures to connect, by error code. Nothing was sent. */
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'PostgreSQL does not answer at its address; check LULL_POSTGRES and that it runs',
  ENOTFOUND: 'the host of PostgreSQL has no address; check LULL_POSTGRES',
  EAI_AGAIN: 'the host of PostgreSQL has no address now; check LULL_POSTGRES',
  EHOSTUNREACH: 'the host of PostgreSQL cannot be reached',
  ENETUNREACH: 'the host of PostgreSQL cannot be reached',
  ETIMEDOUT: 'the host of PostgreSQL does not answer',
  ENOENT: 'the socket of PostgreSQL is not there; check LULL_POSTGRES and that it runs',
  EACCES: 'the socket of PostgreSQL may not be used by this user; check its permissions',
}

export function failureOf(error: unknown): Failure {
  if (error instanceof pg.DatabaseError) return byState(error.code ?? '', error.message)
  // The value could not even be sent.
  if (error instanceof TypeError || error instanceof RangeError) {
    return { kind: 'content', why: error.message }
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const why = unreachable[code]
  if (why !== undefined) return { kind: 'retry', why }
  return byText(error instanceof Error ? error.message : '')
}

function byState(code: string, message: string): Failure {
  const group = code.slice(0, 2)
  if (contentClasses.has(group)) return { kind: 'content', why: message }
  const unknown = `PostgreSQL refused a statement (${code} ${message})`
  return meanings[code] ?? meanings[group] ?? { kind: 'refused', why: unknown }
}

const TIMEOUT = 'ETIMEDOUT'
const TIMEOUT_TEXT = /timeout exceeded when trying to connect|timeout expired|connection timeout/

/** Errors of `pg` and its pool that have no code, by their text. */
const texts: readonly (readonly [RegExp, Failure])[] = [
  [TIMEOUT_TEXT, { kind: 'retry', why: 'PostgreSQL does not answer in time' }],
  [/SASL/, { kind: 'refused', why: 'PostgreSQL wants a password; put it into LULL_POSTGRES' }],
  [
    /SSL|certificate/,
    {
      kind: 'refused',
      why: 'the encrypted connection to PostgreSQL failed; check sslmode, and give sslrootcert if its certificate is signed by an authority of your own',
    },
  ],
  [/(?:)/, { kind: 'lost', why: 'the connection to PostgreSQL was lost' }],
]

function byText(text: string): Failure {
  const [, failure] = texts.find(([pattern]) => pattern.test(text)) ?? []
  return failure ?? { kind: 'lost', why: text }
}

/** Whether the host did not answer. `pg` gives such an error no code. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === TIMEOUT) || TIMEOUT_TEXT.test(error.message)
}

/** The error with the operating system's code for a host that does not answer. */
export function withTimeoutCode(error: unknown): unknown {
  if (!isTimeout(error)) return error
  return Object.assign(new Error('timeout', { cause: error }), { code: TIMEOUT })
}

export function unavailable(why: string, cause?: unknown): LullError<'STORE_UNAVAILABLE'> {
  return new LullError('STORE_UNAVAILABLE', { why }, cause === undefined ? {} : { cause })
}
