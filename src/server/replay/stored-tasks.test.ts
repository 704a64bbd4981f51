/** What `lull replay` leaves as it is in a store that an older version may go on using. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadDriver } from '../../stores/sqlite/files/driver.ts'
import { migrate, readMigrations } from '../../stores/sqlite/migrate.ts'
import { createSqliteStore, openSqliteReader } from '../../stores/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../../stores/sqlite/test-support/processes.ts'
import { type TaskSource, withStoredTasks } from './replay-report.ts'

async function idsIn(tasks: TaskSource): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const id of tasks.ids()) ids.push(id)
  return ids
}

it('refuses a directory of an older schema, and leaves it as it is', async () => {
  const data = await temporaryDirectory()
  const file = join(data, 'lull.db')
  // Made elsewhere: a connection of this process to the file itself would count as another program.
  const made = join(await temporaryDirectory(), 'lull.db')
  const db = (await loadDriver())(made)
  db.exec('PRAGMA journal_mode = WAL')
  migrate(db, readMigrations().slice(0, -1), 10)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  copyFileSync(made, file)
  const before = readFileSync(file)
  await expect(withStoredTasks({ data, store: 'sqlite' }, false, idsIn)).rejects.toThrow(
    /lull\.db has the schema of an older version.*\(--url\), or copy the directory.*--migrate/,
  )
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(existsSync(join(data, 'lull.format'))).toBe(false)
  expect(existsSync(join(data, 'receipt.key'))).toBe(false)
  // A copy can be brought up to date.
  expect(await withStoredTasks({ data, store: 'sqlite' }, true, idsIn)).toEqual([])
  expect(await withStoredTasks({ data, store: 'sqlite' }, false, idsIn)).toEqual([])
  expect(existsSync(join(data, 'receipt.key'))).toBe(false)
})

it('refuses an empty file, and leaves it empty', async () => {
  const data = await temporaryDirectory()
  writeFileSync(join(data, 'lull.db'), '')
  await expect(withStoredTasks({ data, store: 'sqlite' }, false, idsIn)).rejects.toThrow(
    'there is no lull.db in',
  )
  expect(readFileSync(join(data, 'lull.db'))).toHaveLength(0)
})

it('opens a directory so that every write fails', async () => {
  const path = await temporaryDirectory()
  await (await createSqliteStore({ path })).close()
  const store = await openSqliteReader(path)
  onTestFinished(() => store.close())
  await expect(store.setValue('a', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(await store.getValue('a')).toBeUndefined()
})
