/** The definition of everything in a schema, read from the catalog. `pg_dump` is not part of the test server. */
import { execute } from './new-schema.ts'

interface Line {
  readonly line: string
}

export async function dumpOf(schema: string): Promise<string> {
  const parts = await Promise.all([
    execute<Line>(tables, [schema]),
    execute<Line>(constraints, [schema]),
    execute<Line>(indexes, [schema]),
    execute<Line>(functions, [schema]),
    execute<Line>(triggers, [schema]),
  ])
  return `${parts.map((rows) => rows.map(({ line }) => line).join('\n')).join('\n\n')}\n`
}

const tables = `
  SELECT format(E'CREATE TABLE %I.%I (\\n%s\\n)%s;', n.nspname, c.relname, (
    SELECT string_agg(format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN l.collname = 'C' THEN ' COLLATE "C"' ELSE '' END,
      CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
      CASE WHEN a.attidentity <> '' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END), E',\\n' ORDER BY a.attnum)
    FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    CASE WHEN c.reloptions IS NULL THEN '' ELSE ' WITH (' || array_to_string(c.reloptions, ', ') || ')' END) AS line
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.relname`

const constraints = `
  SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s;', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
  FROM pg_constraint WHERE connamespace = $1::regnamespace AND contype IN ('p', 'u', 'f', 'c')
  ORDER BY conrelid::regclass::text, conname`

const indexes = `
  SELECT indexdef || ';' AS line FROM pg_indexes WHERE schemaname = $1 AND indexname NOT IN (
    SELECT conname FROM pg_constraint WHERE connamespace = $1::regnamespace)
  ORDER BY indexname`

const functions = `
  SELECT pg_get_functiondef(p.oid) || ';' AS line FROM pg_proc p
  WHERE p.pronamespace = $1::regnamespace ORDER BY p.proname`

const triggers = `
  SELECT pg_get_triggerdef(t.oid) || ';' AS line FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal ORDER BY c.relname, t.tgname`
