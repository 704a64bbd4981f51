import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import { movedTables } from '../../ports/store/moving.ts'
import type { Store } from '../../ports/store.ts'
import { moveInto } from '../../stores/postgres/move/move-target.ts'
import { createPostgresStore } from '../../stores/postgres/postgres-store.ts'
import { dropSchema, execute, newSchema } from '../../stores/postgres/test-support/new-schema.ts'
import { startProxy } from '../../stores/postgres/test-support/proxy.ts'
import { loadDriver } from '../../stores/sqlite/files/driver.ts'
import { createSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { keyIn } from '../../testing/key-in.ts'
import {
  creation,
  sampleBudget,
  sampleClaim,
  sampleEvent,
  sampleHold,
  sampleMessage,
  sampleRow,
  step,
} from '../../testing/sample-task.ts'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { mintKey } from '../auth/api-keys.ts'
import { createKeyFile } from '../auth/key-file.ts'
import { withKeys } from '../auth/open-keys.ts'
import { type OpenEngine, openEngine } from '../open-engine.ts'
import { pushKey } from '../system/signing-keys.ts'
import { moveStore } from './move-store.ts'

let from: string
let schema: string
let to: { readonly url: string; readonly schema: string }
beforeEach(() => {
  from = mkdtempSync(join(tmpdir(), 'lull-move-'))
  schema = newSchema()
  to = { url: inject('postgres'), schema }
})
afterEach(async () => {
  rmSync(from, { recursive: true })
  await dropSchema(schema)
})

const caller = { tenant: 'default', principal: 'anonymous' }
const log = (): void => undefined

async function engineOn(store: 'sqlite' | 'postgres'): Promise<OpenEngine> {
  const place = store === 'sqlite' ? { data: from } : { data: join(from, 'other'), postgres: to }
  const open = await openEngine({ agents: [scriptAgent], store, log, ...place })
  onTestFinished(() => open.close())
  return open
}

async function send({ engine }: OpenEngine, script: Json, messageId: string): Promise<string> {
  const message = { messageId, role: 'ROLE_USER' as const, parts: [{ data: { script } }] }
  const sent = await engine.send(caller, { message, idempotencyKey: messageId })
  if (sent.kind !== 'task') throw new Error('a script is a task')
  return sent.task.id
}

const park = { park: { reason: 'ci', conditions: { onEvent: 'built' } } }

/** A directory with a completed task and a parked one. */
async function fill(): Promise<{ readonly ended: string; readonly parked: string }> {
  const open = await engineOn('sqlite')
  const ended = await send(open, [{ step: 'a' }, { step: 'b' }], 'first')
  const parked = await send(open, [{ step: 'a' }, park, { step: 'b' }], 'second')
  await open.engine.waitFor(caller, ended, ({ state }) => state === 'completed')
  await open.engine.waitFor(caller, parked, ({ state }) => state === 'paused-by-agent')
  await open.close()
  return { ended, parked }
}

async function withStore<T>(opening: Promise<Store>, work: (store: Store) => Promise<T>) {
  const store = await opening
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const here = <T>(work: (store: Store) => Promise<T>): Promise<T> =>
  withStore(createSqliteStore({ path: from }), work)
const there = <T>(work: (store: Store) => Promise<T>): Promise<T> =>
  withStore(createPostgresStore(to), work)

const hostile = 'a\0b\ud800\n"\\{}'

/** One of everything, with text that databases find difficult. */
async function putSamples(store: Store): Promise<void> {
  const waits = ['built', hostile]
  const row = { state: 'paused-by-agent', waits, dueAt: 5.5, tenant: hostile } as const
  const claimed = { key: hostile, tenant: hostile }
  await store.commit([
    creation(hostile, row, { claim: sampleClaim(hostile, claimed) }),
    creation('owned', { owner: 'gone', readyAt: 7 }),
  ])
  await store.commit([step('owned', 2), step(hostile, 2, { tenant: hostile })])
  await store.appendEvents('acme', [sampleEvent('1'), sampleEvent('2')], 1_000)
  await store.pruneEvents(2_000, 1)
  await store.putHold(sampleHold('lifted', { liftedAt: 9 }))
  await store.putHold(sampleHold('held'))
  const session = { tenant: 'acme', principal: 'ann', id: 's', cwd: '/', createdAt: 1 }
  await store.putSession({ ...session, updatedAt: 2, title: hostile })
  await store.putSession({ ...session, id: 'old', updatedAt: 3, deletedAt: 4 })
  await store.putPush({
    taskId: hostile,
    owner: { tenant: 'acme', principal: 'ann' },
    id: hostile,
    url: 'https://example.com/hook',
    version: '1.0',
    createdAt: 1,
    sentSeq: 2,
    attempts: 0,
  })
  const said = { tenant: 'acme', principal: 'ann', contextId: 'c', at: 1 }
  await store.reply(undefined, [
    { ...said, message: sampleMessage('one') },
    { ...said, at: 2, message: sampleMessage('two') },
  ])
  await store.putPolicy(sampleBudget(hostile), 0)
  const spending = [{ budgetId: hostile, period: 5, amount: 7 }]
  await store.commit([creation('pruned', { state: 'completed', statusAt: 1 }, { spending })])
  await store.pruneTasks(2, 3, 10)
  await store.setValue('some/value', { a: [1, hostile] })
  const entry = { tenant: hostile, action: 'task.pause', outcome: 'done', taskId: hostile }
  await store.appendAudit(['x', hostile].map((id, at) => ({ ...entry, id, at })))
}

/** Everything that can be read of the samples. */
async function readSamples(store: Store): Promise<unknown> {
  const ids = [hostile, 'owned', 'pruned']
  return {
    logs: await Promise.all(
      ids.map(async (id) => store.records(...(await keyIn(store, id)), 0, 99)),
    ),
    rows: await Promise.all(ids.map(async (id) => store.row(...(await keyIn(store, id))))),
    claim: await store.findClaim(sampleClaim(hostile, { key: hostile, tenant: hostile })),
    events: await store.events('acme', 0, 99),
    waiting: await store.waiting(hostile, [hostile], '', 9),
    nextDueAt: await store.nextDueAt(),
    holds: await store.holds(true),
    policies: await store.policies(),
    spent: await store.spent([{ id: hostile }]),
    sessions: await Promise.all(['s', 'old'].map((id) => store.session('acme', 'ann', id))),
    listed: await store.sessions('acme', 'ann', undefined, 9),
    pushes: await store.pushes('acme', hostile),
    messages: await store.contextMessages('acme', 'ann', 'c', 9),
    removed: await store.removedTask('acme', 'pruned'),
    value: await store.getValue('some/value'),
    usage: await store.usage(hostile, 'ann'),
    audit: await store.audit({ limit: 9 }),
  }
}

describe('moving everything to PostgreSQL', () => {
  it('brings every kind of data, whatever text it has, with positions and instants', async () => {
    await here(putSamples)
    const before = await here(readSamples)
    const { report, isRepeat } = await moveStore({ from, to })
    expect(isRepeat).toBe(false)
    expect(report).toMatchObject({ tasks: 2, records: 6, unreadableTasks: [] })
    expect(await there(readSamples)).toEqual(before)
    // Positions go on where they were.
    await there(async (store) => {
      const [event] = await store.appendEvents('acme', [sampleEvent('3')], 1_000)
      expect(event).toEqual({ pos: 3, fresh: true })
      await store.putHold(sampleHold('later'))
      const message = sampleMessage('three')
      const said = { tenant: 'acme', principal: 'ann', contextId: 'c', at: 3, message }
      await store.reply(undefined, [said])
      const kept = await store.contextMessages('acme', 'ann', 'c', 9)
      // Earlier ones keep their positions, and later ones get higher ones.
      const positions = kept.map(({ pos }) => pos)
      expect(positions.slice(0, 2)).toEqual([1, 2])
      expect(positions[2]).toBeGreaterThan(2)
    })
  })

  it('lets a parked task go on, knows messages again, and keeps receipts and keys genuine', async () => {
    const { parked, ended } = await fill()
    const signing = await pushKey({ data: from })
    const { kept, key } = mintKey({ tenant: 't', principal: 'p', scopes: ['tasks:read'] }, 1)
    await createKeyFile(from).add(kept)
    const { report } = await moveStore({ from, to })
    expect(report).toMatchObject({ tasks: 2, receiptFaults: [] })
    expect(report.receipts).toBeGreaterThan(0)
    const open = await engineOn('postgres')
    expect(await send(open, [{ step: 'a' }, { step: 'b' }], 'first')).toBe(ended)
    await open.engine.emit(caller, [sampleEvent('1', { type: 'built' })])
    await open.engine.waitFor(caller, parked, ({ state }) => state === 'completed')
    for (const id of [parked, ended]) {
      expect(await open.engine.verify(caller, id)).toMatchObject({ faults: [] })
    }
    expect(await pushKey({ data: join(from, 'other'), store: open.deps.store })).toBe(signing)
    expect(key).toContain(kept.id)
    const listed = await withKeys({ data: join(from, 'other'), postgres: to }, (keys) =>
      keys.list(),
    )
    expect(listed).toEqual([kept])
  })

  it('tells events to tasks that the old process had not told', async () => {
    const { parked } = await fill()
    const event = sampleEvent('1', { type: 'built' })
    await here((store) => store.appendEvents('default', [event], Date.now()))
    await moveStore({ from, to })
    const open = await engineOn('postgres')
    const task = await open.engine.waitFor(caller, parked, ({ state }) => state === 'completed')
    expect(task.state).toBe('completed')
  })

  it('counts what was damaged before, and moves it as it is', async () => {
    const { ended } = await fill()
    const db = (await loadDriver())(join(from, 'lull.db'))
    db.exec(
      `UPDATE records SET body = '[{' WHERE pos = (SELECT num FROM tasks WHERE id = '${ended}')`,
    )
    db.close()
    const { report } = await moveStore({ from, to })
    expect(report.unreadableTasks).toEqual([ended])
    await there(async (store) => {
      await expect(store.load('default', ended)).rejects.toMatchObject({ code: 'TASK_UNREADABLE' })
      expect(await store.row('default', ended)).toMatchObject({ state: 'completed' })
    })
  })

  it('refuses a directory that a process uses, and one without a store', async () => {
    await engineOn('sqlite')
    await expect(moveStore({ from, to })).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    const empty = { from: join(from, 'nothing'), to }
    await expect(moveStore(empty)).rejects.toThrow('there is no lull.db in')
  })

  it('V2 leaves nothing when it is cut off in the middle, and finishes when it is run again', async () => {
    await here(putSamples)
    for (const phase of ['copying', 'checking']) {
      const proxy = await startProxy(to.url)
      const progress = (now: { readonly phase: string }): void => {
        if (now.phase === phase) proxy.cutAll()
      }
      const cut = moveStore({ from, to: { ...to, url: proxy.url }, progress })
      await expect(cut).rejects.toThrow('run the command again')
      const [found] = await execute<{ n: string }>(`SELECT count(*) AS n FROM ${schema}.tasks`)
      expect(found?.n).toBe('0')
    }
    const { report } = await moveStore({ from, to })
    expect(report.tasks).toBe(2)
  })

  it('V3 changes nothing when it is run again, also after the tasks have gone on', async () => {
    const { parked } = await fill()
    const { report } = await moveStore({ from, to })
    await there((store) => store.appendEvents('other', [sampleEvent('9')], 1))
    expect(await moveStore({ from, to })).toEqual({ report, isRepeat: true })
    const open = await engineOn('sqlite')
    await open.engine.cancel(caller, { taskId: parked })
    await open.close()
    await expect(moveStore({ from, to })).rejects.toThrow('this directory has something else')
  })

  it('V1 shows nothing when a task is not the same on the other side', async () => {
    await here(putSamples)
    await there(async () => undefined)
    await execute(
      `CREATE FUNCTION ${schema}.spoil() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN NEW.body := replace(NEW.body, 'born', 'dead'); RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON ${schema}.records FOR EACH ROW EXECUTE FUNCTION ${schema}.spoil()`,
    )
    await expect(moveStore({ from, to })).rejects.toThrow('has another log in the database')
    expect(await execute(`SELECT id FROM ${schema}.tasks`)).toEqual([])
  })
})

/** Tables that are not in `movedTables`. `usage` is counted from them. */
const others = {
  sqlite: {
    moved: ['tasks', 'records', 'snapshots', 'waits', 'usage'],
    own: ['claim_places', 'migrations', 'probe'],
  },
  postgres: {
    moved: [
      'tasks',
      'records',
      'snapshots',
      'waits',
      'agenda',
      'counters',
      'undispatched_events',
      'usage',
      'event_positions',
    ],
    own: ['duties', 'schema', 'workers'],
  },
}

it('let a new table be forgotten: each one of both stores is moved, or of the store alone', async () => {
  await here(async () => undefined)
  await there(async () => undefined)
  const db = (await loadDriver())(join(from, 'lull.db'))
  const sqlite = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name))
  db.close()
  const postgres = await execute<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}'`,
  )
  const known = (store: keyof typeof others): readonly string[] => [
    ...Object.keys(movedTables),
    ...others[store].moved,
    ...others[store].own,
  ]
  expect(sqlite.sort()).toEqual([...known('sqlite')].sort())
  expect(postgres.map(({ name }) => name).sort()).toEqual([...known('postgres')].sort())
})

describe('a database that is not empty', () => {
  it('T1 is refused, with what to do, and stays as it is', async () => {
    await here(putSamples)
    await there((store) => store.commit([creation('theirs')]))
    await expect(moveStore({ from, to })).rejects.toThrow(/is not empty \(tasks\); drop it/)
    const rows = await execute<{ id: string }>(`SELECT id FROM ${schema}.tasks`)
    expect(rows).toEqual([{ id: 'theirs' }])
  })

  it('T1 is refused while processes use it, although it has no task', async () => {
    await here(putSamples)
    await there(async ({ cluster }) => {
      await cluster?.registerWorker({ id: 'w', agents: [] }, 60_000)
      await expect(moveStore({ from, to })).rejects.toThrow('running processes of Lull use')
    })
  })

  it('T2 takes no process in while the move runs', async () => {
    const register = `SET lock_timeout = 20; INSERT INTO ${schema}.workers VALUES ('w', '{}', now(), 'null')`
    const refused = await moveInto(to, () => execute(register).catch((error) => error.code))
    expect(refused).toBe('55P03')
  })
})

it('a task that a dead process had is an orphan after the move', async () => {
  await here((store) => store.commit([creation('t', { owner: 'dead' })]))
  await moveStore({ from, to })
  await there(async (store) => {
    expect(await store.orphans('', 9)).toEqual([{ taskId: 't', tenant: 'acme', owner: 'dead' }])
    expect(await store.row('acme', 't')).toEqual(sampleRow('t', { owner: 'dead' }))
  })
})
