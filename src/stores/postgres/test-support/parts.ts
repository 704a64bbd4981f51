/** The same tables, divided by tenant. The statements of the store stay as they are. */
import { inject } from 'vitest'
import { readPlace } from '../connection/connection.ts'
import { migrate, readMigrations } from '../migrate.ts'
import { execute } from './new-schema.ts'

export const PARTS = 8

const divided = /CREATE TABLE \{schema\}\.(\w+) \((.*?)\n\) \{of tenant(?:: ([^}]*))?\};/gs

/** Makes the schema. A store that is opened on it finds it up to date. */
export async function makeParts(schema: string): Promise<void> {
  const migrations = readMigrations().map(({ number, sql }) => ({
    number,
    sql: sql.replace(divided, (_, table: string, columns: string, storage?: string) =>
      [
        `CREATE TABLE {schema}.${table} (${columns}\n) PARTITION BY HASH (tenant);`,
        ...Array.from({ length: PARTS }, (__, part) => partOf(table, part, storage)),
      ].join('\n'),
    ),
  }))
  await migrate(readPlace(inject('postgres'), 'postgres'), schema, migrations)
  // The commit function reads arrays, so the planner does not know how few rows they name. On nearly empty tables it would
  // read all parts.
  const functions = await execute<{ name: string }>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc
     WHERE pronamespace = $1::regnamespace AND prolang <> (SELECT oid FROM pg_language WHERE lanname = 'sql')`,
    [schema],
  )
  for (const { name } of functions) {
    for (const setting of ['enable_hashjoin', 'enable_mergejoin', 'enable_seqscan']) {
      await execute(`ALTER FUNCTION ${name} SET ${setting} = off`)
    }
  }
}

function partOf(table: string, part: number, storage: string | undefined): string {
  return `CREATE TABLE {schema}.${table}_${part} PARTITION OF {schema}.${table}
    FOR VALUES WITH (MODULUS ${PARTS}, REMAINDER ${part})${storage === undefined ? '' : ` WITH (${storage})`};`
}

/** The part that has the rows of the tenant, by the hash of PostgreSQL. */
export async function partNumber(schema: string, tenant: string): Promise<number> {
  const [row] = await execute<{ part: number }>(
    `SELECT part FROM generate_series(0, ${PARTS - 1}) AS part
     WHERE satisfies_hash_partition($1::regclass, ${PARTS}, part, $2::text)`,
    [`${schema}.tasks`, tenant],
  )
  return row?.part ?? -1
}
