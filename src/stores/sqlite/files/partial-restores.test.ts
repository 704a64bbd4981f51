/** What an incomplete backup, or files of two backups, does to a data directory. The writer is a process that was killed. */
import { cpSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { creation, sampleRecords, step } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'
import { run, temporaryDirectory } from '../test-support/processes.ts'
import { loadDriver } from './driver.ts'

const open = await loadDriver()
const ids = ['task-1', 'task-2', 'task-3']

interface Killed {
  readonly source: string
  /** The versions of three tasks that the process had acknowledged. */
  readonly acknowledged: number
}

let made: Promise<Killed> | undefined

/** The directory of a process that was killed. The tests copy it. */
function killed(): Promise<Killed> {
  made ??= killWriter()
  return made
}

async function killWriter(): Promise<Killed> {
  const source = join(await mkdtemp(join(tmpdir(), 'lull-sqlite-')), 'data')
  const writer = run('write.mjs', source)
  await writer.lines(40)
  await writer.kill()
  return { source, acknowledged: Number((await writer.lines(40)).at(-1)) }
}

afterAll(async () => {
  if (made !== undefined) await rm(dirname((await made).source), { recursive: true, force: true })
})

/** A directory as a process leaves it that was killed after its first acknowledged write. */
async function afterFirstWrite(): Promise<string> {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit(ids.map((id) => creation(id)))
  const copy = await copyOf(path, all)
  await store.close()
  return copy
}

/** A new directory with some of the files of another one. */
async function copyOf(path: string, files: readonly string[]): Promise<string> {
  const copy = await temporaryDirectory()
  for (const file of files) cpSync(join(path, file), join(copy, file))
  return copy
}

async function expectWhole(path: string, acknowledged: number): Promise<void> {
  const store = await createSqliteStore({ path })
  for (const id of ids) {
    expect((await store.records('acme', id, 0, 1_000_000)).length).toBeGreaterThanOrEqual(
      acknowledged,
    )
  }
  await store.close()
}

async function expectRefused(path: string, text: string): Promise<void> {
  // Twice: the first attempt must not have changed anything.
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(createSqliteStore({ path })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(text),
    })
  }
}

const all = ['lull.db', 'lull.db-wal', 'lull.format']
const withoutLog = 'is a copy without its write-ahead log'
const other = 'does not belong to lull.db'

describe('a directory restored in part', () => {
  it('has everything when both files are there, with or without the marker, also elsewhere', async () => {
    const { source, acknowledged } = await killed()
    await expectWhole(await copyOf(source, all), acknowledged)
    await expectWhole(await copyOf(source, ['lull.db', 'lull.db-wal']), acknowledged)
  })

  it('is refused when lull.db was copied without its log, from the first acknowledged write on', async () => {
    const { source } = await killed()
    for (const from of [source, await afterFirstWrite()]) {
      await expectRefused(await copyOf(from, ['lull.db']), withoutLog)
      await expectRefused(await copyOf(from, ['lull.db', 'lull.format']), withoutLog)
      const path = await copyOf(from, ['lull.db'])
      writeFileSync(join(path, 'lull.db-wal'), '')
      await expectRefused(path, withoutLog)
    }
  })

  it('is refused when SQLite has copied a part of the log into lull.db before', async () => {
    const path = await temporaryDirectory()
    const store = await createSqliteStore({ path, durability: 'relaxed' })
    await store.commit(ids.map((id) => creation(id)))
    const first = await copyOf(path, ['lull.db', 'lull.db-wal'])
    const size = statSync(join(path, 'lull.db')).size
    for (let version = 2; statSync(join(path, 'lull.db')).size === size; version++) {
      const records = sampleRecords(version, 'x'.repeat(1_000_000))
      await store.commit(ids.map((id) => step(id, version, { records })))
    }
    const later = await copyOf(path, all)
    await expectWhole(later, 2)
    await expectRefused(await copyOf(path, ['lull.db']), withoutLog)
    const mixed = await copyOf(path, ['lull.db'])
    cpSync(join(first, 'lull.db-wal'), join(mixed, 'lull.db-wal'))
    await expectRefused(mixed, other)
    const otherWay = await copyOf(path, ['lull.db-wal'])
    cpSync(join(first, 'lull.db'), join(otherWay, 'lull.db'))
    await expectRefused(otherWay, other)
    await store.close()
    // A stopped directory needs its database alone.
    await expectWhole(await copyOf(path, ['lull.db']), 2)
  })

  it('is refused when the log is of another database', async () => {
    const { source } = await killed()
    const path = await copyOf(source, ['lull.db', 'lull.format'])
    cpSync(join(await afterFirstWrite(), 'lull.db-wal'), join(path, 'lull.db-wal'))
    await expectRefused(path, other)
  })

  it('is refused when an older, complete database lies beside a newer log, until that is moved away', async () => {
    const data = await afterFirstWrite()
    const backup = await copyOf(data, all)
    await (await createSqliteStore({ path: backup })).close()
    const store = await createSqliteStore({ path: data })
    await store.setValue('later', 1)
    const path = await copyOf(data, ['lull.db-wal'])
    await store.close()
    cpSync(join(backup, 'lull.db'), join(path, 'lull.db'))
    await expectRefused(path, 'move lull.db-wal away')
    rmSync(join(path, 'lull.db-wal'))
    await expectWhole(path, 1)
  })

  it('is refused when lull.db is missing, empty or cut off', async () => {
    const { source } = await killed()
    await expectRefused(await copyOf(source, ['lull.format']), 'is missing')
    await expectRefused(await copyOf(source, ['lull.db-wal']), 'is missing')
    const empty = await copyOf(source, all)
    truncateSync(join(empty, 'lull.db'))
    await expectRefused(empty, 'is empty')
    for (const left of [50, 4_096, 20_000]) {
      const cut = await copyOf(source, all)
      truncateSync(join(cut, 'lull.db'), left)
      await expectRefused(cut, left < 100 ? 'not a SQLite database' : 'is cut off')
    }
  })

  it('is refused when lull.db has no tables', async () => {
    const { source } = await killed()
    const path = await copyOf(source, ['lull.format'])
    const db = open(join(path, 'lull.db'))
    db.exec('PRAGMA journal_mode = WAL')
    db.close()
    await expectRefused(path, 'has no tables')
  })

  it('has everything when SQLite itself made the copy, while Lull ran', async () => {
    const path = await temporaryDirectory()
    const store = await createSqliteStore({ path })
    await store.commit(ids.map((id) => creation(id)))
    const backup = await temporaryDirectory()
    const db = open(join(path, 'lull.db'))
    db.exec(`VACUUM INTO '${join(backup, 'lull.db')}'`)
    db.close()
    await expectWhole(backup, 2)
    await store.close()
  })

  it('has everything when SQLite has copied the log of a killed process and removed it', async () => {
    const { source, acknowledged } = await killed()
    const path = await copyOf(source, all)
    const db = open(join(path, 'lull.db'))
    db.exec('SELECT count(*) FROM tasks')
    db.close()
    await expectWhole(source, acknowledged)
  })
})
