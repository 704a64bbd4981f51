/**
 * The part of `node:sqlite` that this store uses. If Node has no `node:sqlite`,
 * `@photostructure/sqlite` is loaded, which has the same API. That package will be dropped together
 * with Node 20.
 */
import { LullError } from '../../../core/errors.ts'

export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

export interface Statement {
  run(...values: readonly Value[]): Written
  get(...values: readonly Value[]): Row | undefined
  all(...values: readonly Value[]): readonly Row[]
}

export interface Written {
  readonly changes: number | bigint
  readonly lastInsertRowid: number | bigint
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export type OpenDatabase = (file: string) => Database

interface SqliteModule {
  readonly DatabaseSync: new (file: string) => Database
}

export async function loadDriver(): Promise<OpenDatabase> {
  const { DatabaseSync } = findBuiltin() ?? (await loadFallback())
  return (file) => keepForStatements(new DatabaseSync(file))
}

/**
 * Makes each statement keep its database from being garbage-collected. A statement of
 * `@photostructure/sqlite` has only a raw pointer to its database, and using it after the database
 * was collected crashes the process.
 */
function keepForStatements(db: Database): Database {
  return {
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      const statement = db.prepare(sql)
      databaseOf.set(statement, db)
      return statement
    },
    close: () => db.close(),
  }
}

/** An entry lives as long as its statement. */
const databaseOf = new WeakMap<Statement, Database>()

/** Looked up at run time, because a static import fails on a Node without this module. */
function findBuiltin(): SqliteModule | undefined {
  return process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined
}

async function loadFallback(): Promise<SqliteModule> {
  try {
    return (await import('@photostructure/sqlite')) as SqliteModule
  } catch (cause) {
    const why =
      `Node ${process.version} has no SQLite built in and the package @photostructure/sqlite could not be loaded; ` +
      'use Node 22.13 or newer, or install that package'
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}
