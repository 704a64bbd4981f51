import pg from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { dropSchema, execute, newSchema } from '../test-support/new-schema.ts'
import { startProxy } from '../test-support/proxy.ts'
import { readPlace } from './connection.ts'
import { type Database, openDatabase } from './database.ts'

function open(url: string, options: { waitMs?: number; resolveMs?: number } = {}): Database {
  const db = openDatabase({ place: readPlace(url, 'url'), schema: 'unused', ...options })
  onTestFinished(() => db.close())
  return db
}

it('Q1: sends a statement again that the server refused for a passing reason, up to a bound', async () => {
  const proxy = await startProxy(inject('postgres'))
  const db = open(proxy.url)
  expect(await db.read('SELECT 1 AS one')).toEqual([{ one: 1 }])
  proxy.cutAll()
  expect(await db.read('SELECT 2 AS two')).toEqual([{ two: 2 }])

  const nowhere = open('postgres://ann:s3cret@127.0.0.1:1/x', { waitMs: 200 })
  const failure = nowhere.write('SELECT 1')
  await expect(failure).rejects.toThrow(/does not answer at its address.*ann@127.0.0.1:1\/x/)
  await expect(failure).rejects.not.toThrow(/s3cret/)
  await expect(failure).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
})

it('waits with many statements at once for a server that is away, without a warning of Node', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error): void => {
    warnings.push(name)
  }
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const nowhere = open('postgres://ann@127.0.0.1:1/x', { waitMs: 200 })
  await Promise.allSettled(Array.from({ length: 30 }, () => nowhere.read('SELECT 1')))
  await new Promise(setImmediate)
  expect(warnings).toEqual([])
})

it('closes although the server does not answer a statement', async () => {
  const proxy = await startProxy(inject('postgres'))
  const { config, name } = readPlace(proxy.url, 'url')
  const endless = { name, config: { ...config, query_timeout: 0 } }
  const db = openDatabase({ place: endless, schema: 'unused' })
  const lost = proxy.loseFrom('no answer')
  const failure = expect(db.read("SELECT 'no answer'")).rejects.toThrow('the store is closed')
  await expect.poll(lost.happened).toBe(true)
  await db.close()
  await failure
})

it('Q1: gives up a statement that loses every race', async () => {
  const db = open(inject('postgres'))
  const raise = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END $$`
  await expect(db.write(raise)).rejects.toThrow(/could not serialize/)
})

it('Q2: tells a statement that an earlier attempt may have been carried out', async () => {
  const proxy = await startProxy(inject('postgres'))
  const db = open(proxy.url)
  const cut = proxy.cutAfter('twice?')
  const attempts: boolean[] = []
  const rows = await db.writeOnce('SELECT $1::text AS text', (again) => {
    attempts.push(again)
    return ['twice?']
  })
  expect(cut.happened()).toBe(true)
  expect(attempts).toEqual([false, true])
  expect(rows).toEqual([{ text: 'twice?' }])
})

it('Q2: says that the outcome is unknown when it cannot find out', async () => {
  const proxy = await startProxy(inject('postgres'))
  const db = open(proxy.url, { resolveMs: 0 })
  proxy.cutAfter('who knows')
  await expect(db.write('SELECT $1::text', ['who knows'])).rejects.toThrow(
    /it is unknown whether this was written/,
  )
})

it('Q2: a write that must be carried out once does not fail while its outcome is unknown', async () => {
  const proxy = await startProxy(inject('postgres'))
  const db = open(proxy.url, { waitMs: 0, resolveMs: 0 })
  const cut = proxy.cutAfter('find out')
  const attempts: boolean[] = []
  const rows = await db.writeOnce('SELECT $1::text AS text', (again) => {
    attempts.push(again)
    // As a server that cannot write for a while, and then can.
    if (attempts.length > 4) return ['find out']
    return attempts.length === 1 ? ['find out'] : ['no', 'such parameter']
  })
  expect(cut.happened()).toBe(true)
  expect(attempts).toEqual([false, true, true, true, true])
  expect(rows).toEqual([{ text: 'find out' }])
})

it('Q2: a part of a write does not fail when another part was carried out', async () => {
  const db = open(inject('postgres'), { waitMs: 0 })
  let attempts = 0
  // The server refuses a name with a blank.
  const names = (): readonly string[] => (++attempts < 4 ? ['no name'] : ['lull.part'])
  const write = `SELECT set_config($1, 'x', true) AS text`
  await expect(db.writeOnce(write, names)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(await db.writeOnce(write, names, true)).toEqual([{ text: 'x' }])
  expect(attempts).toBe(4)
})

it('Q3: leaves no statement behind on the server when it waits for a lock', async () => {
  const schema = newSchema()
  await execute(`CREATE SCHEMA ${schema}`)
  await execute(`CREATE TABLE ${schema}.locked (n integer)`)
  const locker = new pg.Client(inject('postgres'))
  await locker.connect()
  onTestFinished(async () => {
    await locker.end()
    await dropSchema(schema)
  })
  await locker.query(`BEGIN; LOCK TABLE ${schema}.locked`)
  const { config, name } = readPlace(inject('postgres'), 'url')
  const place = { config: { ...config, query_timeout: 2_000 }, name }
  const db = openDatabase({ place, schema, waitMs: 0 })
  onTestFinished(() => db.close())
  // It is known that nothing was written, so the write fails.
  const write = db.writeOnce(`INSERT INTO ${schema}.locked VALUES ($1)`, () => [1])
  await expect(write).rejects.toThrow(/ended a statement that took too long/)
  const waiting = `SELECT FROM pg_stat_activity WHERE query LIKE '%${schema}.locked VALUES%' AND state = 'active'
    AND pid <> pg_backend_pid()`
  expect(await execute(waiting)).toEqual([])
})

it('Q4: does not use a connection again that leads to a read-only server', async () => {
  const proxy = await startProxy(inject('postgres'))
  const db = open(proxy.url, { waitMs: 300 })
  await db.write('SELECT 1')
  const before = proxy.connections()
  const raise = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '25006'; END $$`
  await expect(db.write(raise)).rejects.toThrow(/read-only; connect to the primary/)
  expect(proxy.connections()).toBeGreaterThan(before + 1)
})

it('Q4: goes on after the server ended all its connections', async () => {
  const db = open(inject('postgres'))
  const [mine] = await db.write('SELECT pg_backend_pid() AS pid')
  await execute('SELECT pg_terminate_backend($1)', [mine?.['pid']])
  const [next] = await db.write('SELECT pg_backend_pid() AS pid')
  expect(next?.['pid']).not.toBe(mine?.['pid'])
})

it('refuses every statement once it is closed', async () => {
  const db = open(inject('postgres'))
  await db.close()
  await expect(db.read('SELECT 1')).rejects.toThrow('the store is closed')
})
