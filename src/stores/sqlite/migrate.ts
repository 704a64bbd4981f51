/**
 * Migrates a database to the schema of this version. Migrations are numbered files, forward only.
 * Each runs in its own transaction, which also records it. The caller has locked the directory, so
 * no other process migrates. A database that is up to date is not written to, so it can be opened
 * on a full disk.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LullError } from '../../core/errors.ts'
import { olderSchema } from '../../core/older-schema.ts'
import { BUNDLED } from '../../core/package-files.ts'
import type { Database } from './files/driver.ts'
import { createTransact } from './transaction.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

/** "Lull" in ASCII. It distinguishes this database from those of other programs. */
const APPLICATION_ID = 0x4c756c6c

export function readMigrations(
  directory: string = fileURLToPath(new URL('./migrations/', import.meta.url)),
): readonly Migration[] {
  return filesIn(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      number: Number.parseInt(file, 10),
      name: file.replace(/\.sql$/, ''),
      sql: readFileSync(join(directory, file), 'utf8'),
    }))
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (cause) {
    throw new LullError('STORE_UNAVAILABLE', { why: BUNDLED }, { cause })
  }
}

/** Migrates, and returns whether anything was changed. */
export function migrate(db: Database, migrations: readonly Migration[], now: number): boolean {
  const transact = createTransact(db)
  if (isEmpty(db)) transact(() => initialize(db))
  const applied = appliedTo(db, migrations)
  const record = db.prepare('INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)')
  const missing = migrations.filter((one) => one.number > applied)
  for (const { number, name, sql } of missing) {
    transact(() => {
      db.exec(sql)
      record.run(number, name, now)
    })
  }
  return missing.length > 0
}

/**
 * For a read-only program.
 * @throws LullError `STORE_UNAVAILABLE` when the schema is not that of this version
 */
export function requireCurrent(db: Database, migrations: readonly Migration[]): void {
  if (isEmpty(db))
    throw unavailable('lull.db is empty; give the data directory that keeps the tasks')
  const applied = appliedTo(db, migrations)
  const known = lastOf(migrations)
  if (applied < known) throw unavailable(olderSchema('lull.db', applied, known, 'directory'))
}

/** The number of the last migration that has run. @throws LullError when this version cannot use the database */
function appliedTo(db: Database, migrations: readonly Migration[]): number {
  if (applicationId(db) !== APPLICATION_ID) {
    throw unavailable('lull.db belongs to another program; choose another data directory')
  }
  const applied = Number(db.prepare('SELECT max(number) AS n FROM migrations').get()?.['n'] ?? 0)
  const known = lastOf(migrations)
  if (applied > known) {
    throw unavailable(
      `lull.db was written by another version of Lull (schema ${applied}, this version knows ${known}); ` +
        'use that version, or export its tasks with it (lull export) and import them into another data directory',
    )
  }
  return applied
}

function lastOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.number ?? 0
}

function initialize(db: Database): void {
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  db.exec(
    `CREATE TABLE migrations (
       number INTEGER PRIMARY KEY,
       name TEXT NOT NULL,
       applied_at REAL NOT NULL
     ) STRICT`,
  )
}

/** Whether the database has no tables, like a new one. */
export function isEmpty(db: Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}

function applicationId(db: Database): number {
  return Number(db.prepare('PRAGMA application_id').get()?.['application_id'])
}

function unavailable(why: string): LullError {
  return new LullError('STORE_UNAVAILABLE', { why })
}
