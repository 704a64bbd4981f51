/**
 * What an older program uses is still there after every migration: a running process knows the schema of its own version,
 * and another process migrates under it (M7 of migrate.ts).
 */
import { expect, inject, it, onTestFinished } from 'vitest'
import { readPlace } from './connection/connection.ts'
import { migrate, readMigrations } from './migrate.ts'
import { dropSchema, execute, newSchema } from './test-support/new-schema.ts'

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  /** Whether a row can be inserted without it. */
  readonly optional: boolean
}

interface Named {
  readonly name: string
}

async function partsOf(schema: string) {
  const columns = await execute<Column>(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
       NOT a.attnotnull OR a.atthasdef OR a.attidentity <> '' AS optional
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped`,
    [schema],
  )
  const functions = await execute<Named>(
    `SELECT p.proname || '(' || pg_get_function_arguments(p.oid) || ') ' || pg_get_function_result(p.oid) AS name
     FROM pg_proc p WHERE p.pronamespace = $1::regnamespace`,
    [schema],
  )
  const constraints = await execute<Named & { readonly table: string }>(
    `SELECT c.relname AS table, c.relname || ' ' || pg_get_constraintdef(k.oid) AS name
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.connamespace = $1::regnamespace AND k.contype IN ('p', 'u', 'f', 'c', 'x')`,
    [schema],
  )
  return { columns, functions, constraints }
}

const names = (those: readonly Named[]): readonly string[] => those.map(({ name }) => name).sort()

it.each(readMigrations().map(({ number }) => [number]))(
  'M7: a program of schema %i finds its columns, functions and constraints in the newest one',
  async (known) => {
    const schema = newSchema()
    onTestFinished(() => dropSchema(schema))
    const place = readPlace(inject('postgres'), 'postgres')
    await migrate(place, schema, readMigrations().slice(0, known))
    const before = await partsOf(schema)
    await migrate(place, schema)
    const after = await partsOf(schema)

    expect(after.columns).toEqual(expect.arrayContaining([...before.columns]))
    expect(names(after.functions)).toEqual(expect.arrayContaining([...names(before.functions)]))
    const oldTables = new Set(before.columns.map(({ table }) => table))
    const isOld = ({ table }: { readonly table: string }): boolean => oldTables.has(table)
    // Nothing refuses the rows that the older program inserts.
    expect(names(after.constraints.filter(isOld))).toEqual(names(before.constraints))
    const columnOf = ({ table, column }: Column): string => `${table}.${column}`
    const old = new Set(before.columns.map(columnOf))
    const added = after.columns.filter((one) => isOld(one) && !old.has(columnOf(one)))
    expect(added.filter(({ optional }) => !optional)).toEqual([])
  },
)
