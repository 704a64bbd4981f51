/**
 * The store on tables that are divided into eight parts by tenant (P1 to P3 of docs/decisions/0037-tenant-first.md): it
 * works as on undivided ones, and each hot call reads and writes exactly the parts of its tenants.
 */
import pg from 'pg'
import * as vitest from 'vitest'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  creation,
  sampleClaim,
  sampleEvent,
  sampleRow,
  sampleSnapshot,
  step,
} from '../../testing/sample-task.ts'
import { describeStoreContract, type MakeStore } from '../../testing/store-contract.ts'
import { createCluster } from './cluster.ts'
import { readPlace } from './connection/connection.ts'
import { type Database, openDatabase, type Row, type Value } from './connection/database.ts'
import { createLanes } from './connection/lanes.ts'
import { createEvents, createUndispatchedEvents } from './events.ts'
import { createPolicies } from './policies.ts'
import { createPostgresStore } from './postgres-store.ts'
import { createPushes } from './pushes.ts'
import { createClaims } from './tasks/claims.ts'
import { createCommit } from './tasks/commit.ts'
import { createLists } from './tasks/lists.ts'
import { createLogs } from './tasks/logs.ts'
import { createWork } from './tasks/work.ts'
import { dropSchema, newSchema, storeMaker } from './test-support/new-schema.ts'
import { makeParts, partNumber } from './test-support/parts.ts'
import { createUsage } from './usage.ts'

describeStoreContract(vitest, 'the PostgreSQL store in parts', storeMaker({}, makeParts), true)

/** Commits in the form with one tenant per call, as a store of several databases would send them. */
const ofOneTenant: MakeStore = async () => {
  const subject = await storeMakerOfOne()
  const databases: Database[] = []
  const withOne = (store: typeof subject.store): typeof subject.store => {
    const db = openDatabase({ place: readPlace(inject('postgres'), 'postgres'), schema: ofOne })
    databases.push(db)
    const close = async (): Promise<void> => {
      await Promise.all([store.close(), db.close()])
    }
    return { ...store, commit: createCommit(db, 'of-one'), close }
  }
  const { cluster, ...rest } = subject
  return {
    ...rest,
    ...(cluster && { cluster }),
    store: withOne(subject.store),
    reopen: async () => withOne(await subject.reopen()),
    async cleanup() {
      await subject.cleanup()
      await Promise.all(databases.map((db) => db.close()))
    },
  }
}
let ofOne = ''
const storeMakerOfOne = storeMaker({}, async (schema) => {
  ofOne = schema
  await makeParts(schema)
})
describeStoreContract(vitest, 'the PostgreSQL store in parts, one tenant per call', ofOneTenant)

describe('a hot call', () => {
  const schema = newSchema()
  const tenants = Array.from({ length: 24 }, (_, n) => `tenant-${n}`)
  let client: pg.Client

  beforeAll(async () => {
    await makeParts(schema)
    const store = await createPostgresStore({ url: inject('postgres'), schema })
    for (const tenant of tenants) {
      const ids = Array.from({ length: 20 }, (_, n) => `${tenant}-${n}`)
      const row = { tenant, readyAt: 1, dueAt: 1, owner: 'w', waits: ['tick'] }
      await store.commit(
        ids.map((id) =>
          creation(id, row, {
            claim: sampleClaim(id, { tenant, key: id }),
            snapshot: sampleSnapshot(id, 2),
            spending: [{ budgetId: 'b', period: 1, amount: 1 }],
          }),
        ),
      )
      await store.appendEvents(
        tenant,
        ids.map((id) => sampleEvent(id)),
        1,
      )
    }
    await store.close()
    client = new pg.Client(inject('postgres'))
    await client.connect()
    await client.query('ANALYZE')
  })
  afterAll(async () => {
    await client.end()
    await dropSchema(schema)
  })

  /** The store on one connection, whose transaction is rolled back. */
  function database(): Database {
    const run = async (text: string, values: readonly Value[] = []): Promise<readonly Row[]> =>
      (await client.query<Row>(text, [...values])).rows
    return {
      schema,
      read: run,
      write: run,
      writeOnce: (text, values) => run(text, values(false)),
      close: async () => undefined,
    }
  }

  function storeOn(db: Database) {
    const lanes = createLanes()
    const silent = { onChanges: () => () => undefined, report: () => undefined } as never
    return {
      ...createClaims(db),
      ...createLogs(db),
      ...createLists(db),
      ...createWork(db),
      ...createEvents(db, lanes),
      ...createUndispatchedEvents(db),
      ...createPushes(db),
      ...createPolicies(db),
      ...createUsage(db),
      commit: createCommit(db),
      commitOfOne: createCommit(db, 'of-one'),
      versions: createCluster(db, db, silent).versions,
    }
  }

  interface Touched {
    readonly name: string
    readonly n: string
  }

  async function counters(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await client.query<Touched>(
      `SELECT relname AS name, seq_scan + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del AS n
       FROM pg_stat_xact_user_tables WHERE schemaname = $1 AND relname ~ '_[0-9]+$'`,
      [schema],
    )
    return new Map(rows.map(({ name, n }) => [name, Number(n)]))
  }

  /** The parts that the call has scanned or written, and the tables of which these are parts. */
  async function touchedBy(call: (store: ReturnType<typeof storeOn>) => Promise<unknown>) {
    await client.query('BEGIN')
    try {
      const before = await counters()
      await call(storeOn(database()))
      const after = await counters()
      const names = [...after]
        .filter(([name, n]) => n > (before.get(name) ?? 0))
        .map(([name]) => name)
      return {
        parts: [
          ...new Set(names.map((name) => Number(name.slice(name.lastIndexOf('_') + 1)))),
        ].sort(),
        tables: [...new Set(names.map((name) => name.slice(0, name.lastIndexOf('_'))))].sort(),
      }
    } finally {
      await client.query('ROLLBACK')
    }
  }

  const [tenant = ''] = tenants
  const id = `${tenant}-3`
  const row = (changes: Parameters<typeof sampleRow>[1]) => sampleRow(id, { tenant, ...changes })
  const created = (of: string) =>
    creation(
      `new-${of}`,
      { tenant: of, owner: 'w' },
      { claim: sampleClaim(`new-${of}`, { tenant: of }), holdEpoch: 0 },
    )

  const calls: Readonly<Record<string, (store: ReturnType<typeof storeOn>) => Promise<unknown>>> = {
    'the look for a claim': (store) => store.findClaim(sampleClaim('x', { tenant, key: id })),
    'a send': (store) => store.commit([created(tenant)]),
    'a send, one tenant per call': (store) => store.commitOfOne([created(tenant)]),
    'a step': (store) => store.commit([step(id, 2, { tenant })]),
    'a stop': (store) =>
      store.commit([
        step(id, 2, {
          tenant,
          row: row({ state: 'paused-by-agent', waits: ['built'] }),
          eventPos: 3,
          anchor: 'a',
        }),
      ]),
    'an end': (store) =>
      store.commit([
        step(id, 2, { tenant, row: row({ state: 'completed' }), snapshot: sampleSnapshot(id, 3) }),
      ]),
    'an end, one tenant per call': (store) =>
      store.commitOfOne([step(id, 2, { tenant, row: row({ state: 'completed' }) })]),
    'a lost race': (store) => store.commit([step(id, 1, { tenant })]),
    'an event': (store) => store.appendEvents(tenant, [sampleEvent('new')], 1),
    'the position of events': (store) => store.eventPositions([tenant]),
    'the look for waiting tasks': (store) => store.waiting(tenant, ['tick'], '', 9),
    'a look back': (store) => store.events(tenant, 0, 9, ['built']),
    'the mark of an event': (store) => store.markDispatched([{ tenant, pos: 1 }]),
    'a load': (store) => store.load(tenant, id),
    'the records of a task': (store) => store.records(tenant, id, 1, 9),
    'the version of a task': (store) => store.versions([{ tenant, id }]),
    'the webhooks of a task': (store) => store.pushes(tenant, id),
    'the sum of a budget': (store) => store.spent([{ id: 'b', tenant }]),
    'what is stored': (store) => store.usage(tenant, 'ann'),
    'a list of a principal': (store) => store.list({ tenant, principal: 'ann', limit: 9 }),
    'a list of a tenant': (store) => store.list({ tenant, limit: 9 }),
    'a count of a tenant': (store) => store.count({ tenant }),
  }

  it.each(Object.entries(calls))('touches exactly the part of its tenant: %s', async (_, call) => {
    const { parts, tables } = await touchedBy(call)
    expect(tables).not.toEqual([])
    expect(parts).toEqual([await partNumber(schema, tenant)])
  })

  it('touches exactly the parts of its tenants: commits of four tenants', async () => {
    const some = tenants.slice(0, 4)
    const expected = new Set(await Promise.all(some.map((one) => partNumber(schema, one))))
    expect(expected.size).toBeGreaterThan(1)
    const { parts } = await touchedBy((store) =>
      store.commit(
        some.flatMap((of) => [
          created(of),
          step(`${of}-3`, 2, { tenant: of }),
          step(`${of}-4`, 2, {
            tenant: of,
            row: sampleRow(`${of}-4`, { tenant: of, state: 'completed' }),
          }),
        ]),
      ),
    )
    expect(parts).toEqual([...expected].sort())
  })

  it('asks every part only for callers of all tenants', async () => {
    const { parts } = await touchedBy((store) => store.tenantOf(id))
    expect(parts.length).toBeGreaterThan(1)
  })
})
