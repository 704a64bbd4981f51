import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, inject, it, onTestFinished } from 'vitest'
import { readPlace } from './connection/connection.ts'
import { migrate, problemOf, readMigrations, requireCurrent } from './migrate.ts'
import { openPostgresReader } from './postgres-store.ts'
import { dumpOf } from './test-support/dump.ts'
import { dropSchema, execute, newSchema } from './test-support/new-schema.ts'

const place = () => readPlace(inject('postgres'), 'postgres')

function schemaOfTest(): string {
  const schema = newSchema()
  onTestFinished(() => dropSchema(schema))
  return schema
}

it('makes the schema that is committed as schema.sql', async () => {
  const schema = schemaOfTest()
  await migrate(place(), schema)
  const dump = (await dumpOf(schema)).replaceAll(schema, 'lull')
  await expect(dump).toMatchFileSnapshot('schema.sql')
})

it('M1: lets one of many processes migrate, while the others wait', async () => {
  const schema = schemaOfTest()
  await Promise.all(Array.from({ length: 6 }, () => migrate(place(), schema)))
  const [row] = await execute(`SELECT * FROM ${schema}.schema`)
  expect(row).toEqual({ number: readMigrations().at(-1)?.number, readable_from: 1 })
})

it('M1: writes nothing of a migration that fails', async () => {
  const schema = schemaOfTest()
  const broken = [...readMigrations(), { number: 99, sql: 'CREATE TABLE {schema}.x (y nonsense)' }]
  await expect(migrate(place(), schema, broken)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
  expect(await execute('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([])
})

it('M1: adds what is missing to an older schema', async () => {
  const schema = schemaOfTest()
  const first = readMigrations()
  const rest = [{ number: first.length + 1, sql: 'CREATE TABLE {schema}.later (x integer)' }]
  await migrate(place(), schema, first)
  await execute(`INSERT INTO ${schema}.key_values VALUES ('a', '1')`)
  await migrate(place(), schema, [...first, ...rest])
  await execute(`SELECT x FROM ${schema}.later`)
  expect(await execute(`SELECT * FROM ${schema}.key_values`)).toEqual([{ name: 'a', value: '1' }])
  const [row] = await execute(`SELECT number FROM ${schema}.schema`)
  expect(row).toEqual({ number: rest.at(-1)?.number })
})

it('M2: does not write to a schema that is up to date', async () => {
  const schema = schemaOfTest()
  await migrate(place(), schema)
  const url = new URL(inject('postgres'))
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  await migrate(readPlace(url.href, 'postgres'), schema)
})

it('M3: starts on a newer schema that it can still use, and refuses another', async () => {
  const schema = schemaOfTest()
  await migrate(place(), schema)
  await execute(`UPDATE ${schema}.schema SET number = 99`)
  await migrate(place(), schema)
  await execute(`UPDATE ${schema}.schema SET readable_from = 98`)
  await expect(migrate(place(), schema)).rejects.toThrow(/newer version of Lull \(schema 99/)
})

it('M4: leaves a schema of another program alone', async () => {
  const schema = schemaOfTest()
  await execute(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs (x integer)`)
  await expect(migrate(place(), schema)).rejects.toThrow(/has tables of another program/)
})

it('M5: refuses a schema from before the first release, with the way to keep its tasks', async () => {
  const schema = schemaOfTest()
  await migrate(place(), schema)
  await execute(`DROP TABLE ${schema}.event_positions; UPDATE ${schema}.schema SET number = 9`)
  const refused = migrate(place(), schema)
  await expect(refused).rejects.toThrow('was made by an unreleased version of Lull')
  await expect(refused).rejects.toThrow(/lull export.*import them into another schema/)
})

it('uses an empty schema that somebody made for it', async () => {
  const schema = schemaOfTest()
  await execute(`CREATE SCHEMA ${schema}`)
  await migrate(place(), schema)
})

it('says what a user without rights lacks', async () => {
  const user = `user_${randomBytes(6).toString('hex')}`
  await execute(`CREATE ROLE ${user} LOGIN PASSWORD 'pw'`)
  onTestFinished(async () => {
    await execute(`DROP ROLE ${user}`)
  })
  const url = new URL(inject('postgres'))
  url.username = user
  url.password = 'pw'
  const failure = migrate(readPlace(url.href, 'postgres'), newSchema())
  await expect(failure).rejects.toThrow(/lacks a right; let it create and use the schema/)
})

it('refuses a database that does not store UTF8', async () => {
  const name = `ascii_${randomBytes(6).toString('hex')}`
  await execute(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'`)
  onTestFinished(async () => {
    await execute(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  const url = new URL(inject('postgres'))
  url.pathname = `/${name}`
  await expect(migrate(readPlace(url.href, 'postgres'), 'lull')).rejects.toThrow(
    /stores text as SQL_ASCII, not as UTF8/,
  )
})

it('refuses servers that are too old, and standbys', () => {
  const server = { version: 140_000, encoding: 'UTF8', standby: false }
  expect(problemOf(server)).toBeUndefined()
  expect(problemOf({ ...server, version: 130_014 })).toBe(
    'PostgreSQL 13 is too old; use 14 or newer',
  )
  expect(problemOf({ ...server, standby: true })).toMatch(/is a standby/)
})

it('does not try for long when a host takes connections and never answers', async () => {
  let connections = 0
  const mute = createServer(() => connections++).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  onTestFinished(() => void mute.close())
  const { port } = mute.address() as AddressInfo
  const { config, name } = readPlace(`postgres://u@127.0.0.1:${port}/x`, 'postgres')
  const impatient = { name, config: { ...config, connectionTimeoutMillis: 10 } }
  const refusal = { cause: expect.objectContaining({ code: 'ETIMEDOUT' }) }
  await expect(migrate(impatient, 'lull')).rejects.toMatchObject(refusal)
  expect(connections).toBe(1)
})

it('has one migration of each number', () => {
  const numbers = readMigrations().map(({ number }) => number)
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
})

it('M6: a program that only reads refuses an older or missing schema, and leaves it as it is', async () => {
  const schema = schemaOfTest()
  await expect(requireCurrent(place(), schema)).rejects.toThrow(`there is no schema ${schema}`)
  expect(await execute('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([])
  await migrate(place(), schema)
  await execute(`UPDATE ${schema}.schema SET number = 0`)
  const before = await dumpOf(schema)
  const reader = { url: inject('postgres'), schema }
  await expect(openPostgresReader(reader)).rejects.toThrow(
    /has the schema of an older version.*\(--url\), or copy the database/,
  )
  expect(await dumpOf(schema)).toBe(before)
  expect(await execute(`SELECT number FROM ${schema}.schema`)).toEqual([{ number: 0 }])
  await execute(`UPDATE ${schema}.schema SET number = ${readMigrations().length}`)
  const store = await openPostgresReader(reader)
  onTestFinished(() => store.close())
  expect(await store.list({ tenant: 'a', limit: 1 })).toEqual([])
})
