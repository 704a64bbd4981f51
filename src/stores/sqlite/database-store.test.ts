import { describe, expect, it } from 'vitest'
import type { Commit, TaskRow } from '../../ports/store/tasks.ts'
import {
  creation,
  sampleClaim,
  sampleEvent,
  sampleMessage,
  sampleSnapshot,
  step,
} from '../../testing/sample-task.ts'
import { createDatabaseStore } from './database-store.ts'
import { type Database, loadDriver } from './files/driver.ts'
import { migrate, readMigrations } from './migrate.ts'
import { createSqliteStore } from './sqlite-store.ts'
import { temporaryDirectory } from './test-support/processes.ts'

const open = await loadDriver()
const unavailable = { code: 'STORE_UNAVAILABLE' }

function memoryDatabase(): Database {
  const db = open(':memory:')
  migrate(db, readMigrations(), 0)
  return db
}

/** A commit that can be encoded and is refused by SQLite, after its claim was written. */
function refusedBySqlite(id: string): Commit {
  const row = { tenant: undefined } as unknown as TaskRow
  return creation(id, row, { claim: sampleClaim(id, { key: id }) })
}

describe('a commit SQLite refuses', () => {
  it('fails alone and leaves nothing behind, in whatever place of the batch it stands', async () => {
    const store = createDatabaseStore(memoryDatabase(), () => undefined)
    const batch = ['a', 'b', 'c', 'd'].map((id) => creation(id))
    for (let place = 0; place <= batch.length; place++) {
      const ids = batch.map((_, n) => `task-${place}-${n}`)
      const bad = refusedBySqlite(`bad-${place}`)
      const results = await store.commit([
        ...ids.slice(0, place).map((id) => creation(id, { waits: ['tick'] })),
        bad,
        ...ids.slice(place).map((id) => creation(id, { waits: ['tick'] })),
      ])
      const statuses = results.map(({ status }) => status)
      expect(statuses).toEqual(statuses.map((_, n) => (n === place ? 'failed' : 'written')))
      expect(await store.load('acme', bad.taskId)).toBeUndefined()
      expect(await store.findClaim(sampleClaim('', { key: bad.taskId }))).toBeUndefined()
    }
    expect(await store.count({})).toBe(20)
    expect(await store.waiting('acme', ['tick'], '', 99)).toHaveLength(20)
  })
})

describe('a damaged row', () => {
  it('is an error of its own task; neighbours, lists and other logs are read', async () => {
    const db = memoryDatabase()
    const store = createDatabaseStore(db, () => undefined)
    await store.commit(['good', 'cut', 'odd', 'folded'].map((id) => creation(id)))
    await store.commit([step('folded', 2, { snapshot: sampleSnapshot('folded', 3) })])
    const damage = (id: string, body: string): void =>
      db.exec(
        `UPDATE records SET body = '${body}' WHERE pos = (SELECT num FROM tasks WHERE id = '${id}')`,
      )
    damage('cut', '[{"type":"mess')
    damage('odd', '7')
    db.exec(`UPDATE snapshots SET body = '{"id'`)
    db.exec(`UPDATE tasks SET waits = '["tick' WHERE id = 'cut'`)

    for (const id of ['cut', 'odd', 'folded']) {
      const unreadable = { code: 'TASK_UNREADABLE', details: { taskId: id } }
      await expect(store.load('acme', id)).rejects.toMatchObject(unreadable)
    }
    await expect(store.records('acme', 'cut', 0, 9)).rejects.toMatchObject({
      code: 'TASK_UNREADABLE',
    })
    expect((await store.load('acme', 'good'))?.records).toHaveLength(2)
    expect(await store.list({ limit: 9 })).toHaveLength(4)
    expect(await store.commit([step('good', 2)])).toEqual([{ status: 'written' }])
  })
})

describe('a full disk', () => {
  // SQLite's limit of pages simulates a full disk. Both give SQLITE_FULL.
  it('rejects every commit of the batch, keeps reading, and writes again once there is room', async () => {
    const path = await temporaryDirectory()
    const store = await createSqliteStore({ path, maxBytes: 400_000 })
    const big = 'x'.repeat(50_000)
    const fat = (id: string): Commit =>
      creation(id, { state: 'completed' }, { claim: sampleClaim(id, { key: id, digest: big }) })
    let written = 0
    let failure: unknown
    while (failure === undefined && written < 100) {
      const pair = [creation(`small-${written}`), fat(`fat-${written}`)]
      failure = await store.commit(pair).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined) written++
    }

    expect(failure).toMatchObject(unavailable)
    expect((failure as Error).message).toContain('the disk is full')
    expect(await store.load('acme', `small-${written}`)).toBeUndefined()
    expect(await store.load('acme', `fat-${written}`)).toBeUndefined()
    expect(await store.count({})).toBe(written * 2)

    await store.pruneClaims(2_000, 3)
    await store.check()
    expect(await store.commit([fat(`fat-${written}`), step('small-0', 2)])).toEqual([
      { status: 'written' },
      { status: 'written' },
    ])
    await store.close()
  })

  it('is found by check', async () => {
    const db = memoryDatabase()
    const store = createDatabaseStore(db, () => undefined)
    await store.check()
    const { page_count: pages } = db.prepare('PRAGMA page_count').get() ?? {}
    db.exec('CREATE TABLE rest (x BLOB); INSERT INTO rest VALUES (zeroblob(20000))')
    db.exec(`PRAGMA max_page_count = ${pages}`)
    await expect(store.check()).rejects.toMatchObject(unavailable)
    await store.close()
  })
})

describe('a database that turns read-only', () => {
  // `query_only` simulates a read-only file system. Both give SQLITE_READONLY.
  it('rejects every kind of write, keeps reading, and writes again afterwards', async () => {
    const db = memoryDatabase()
    const store = createDatabaseStore(db, () => undefined)
    await store.commit([creation('task-1')])
    db.exec('PRAGMA query_only = ON')

    const writes = [
      store.commit([step('task-1', 2)]),
      store.appendEvents('acme', [sampleEvent('1')], 1),
      store.setValue('fact', 1),
      store.claim(sampleClaim('task-1')),
      store.reply(undefined, [
        { tenant: 'a', principal: 'b', contextId: 'c', at: 1, message: sampleMessage('hi') },
      ]),
      store.pruneTasks(9, 9, 9),
      store.check(),
    ]
    for (const write of writes) await expect(write).rejects.toMatchObject(unavailable)
    expect(await store.records('acme', 'task-1', 0, 9)).toHaveLength(2)

    db.exec('PRAGMA query_only = OFF')
    await store.check()
    expect(await store.commit([step('task-1', 2)])).toEqual([{ status: 'written' }])
    await store.close()
  })
})

describe('a task that is created', () => {
  it.each<Partial<TaskRow>>([
    {},
    { parentId: 'parent' },
    { readyAt: 0 },
    { owner: '' },
    { dueAt: 0 },
    { held: true },
    { waits: ['tick'] },
  ])('has all its row says, also where that is %j alone', async (some) => {
    const first = creation('task', { state: 'completed', ...some })
    const store = createDatabaseStore(memoryDatabase(), () => undefined)
    await store.commit([first])
    expect(await store.list({ limit: 1 })).toEqual([first.row])
  })
})
