import { existsSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { creation, step } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'
import { run, temporaryDirectory } from '../test-support/processes.ts'
import { backUpDirectory } from './backup.ts'
import { loadDriver } from './driver.ts'
import { inspectDirectory } from './inspect-directory.ts'

const open = await loadDriver()

async function restored(file: string): Promise<string> {
  const path = await temporaryDirectory()
  await copyFile(file, join(path, 'lull.db'))
  return path
}

it('B1: has everything that was acknowledged before, while another process writes', async () => {
  const path = join(await temporaryDirectory(), 'data')
  const writer = run('write.mjs', path)
  const acknowledged = Number((await writer.lines(40)).at(-1))
  const file = join(await temporaryDirectory(), 'lull.backup')
  const backup = await backUpDirectory(path, file)
  expect(backup).toEqual({ file, bytes: statSync(file).size, tasks: 3 })
  // The writer goes on, and a crash after the backup changes nothing in it.
  const before = (await writer.lines(0)).length
  await writer.lines(before + 20)
  await writer.kill()
  const store = await createSqliteStore({ path: await restored(file) })
  for (const id of ['task-1', 'task-2', 'task-3']) {
    expect((await store.records('acme', id, 0, 1_000_000)).length).toBeGreaterThanOrEqual(
      acknowledged,
    )
  }
  await store.commit([
    step('task-1', (await store.load('acme', 'task-1'))?.records.at(-1)?.seq ?? 0),
  ])
  await store.close()
})

it('B2: makes a private file, and replaces one only when it is told to', async () => {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  const folder = await temporaryDirectory()
  const file = join(folder, 'lull.backup')
  await backUpDirectory(path, file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await store.commit([creation('task-2')])
  await expect(backUpDirectory(path, file)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(await inspectDirectory(await restored(file))).toMatchObject({ tasks: 1 })
  expect(await backUpDirectory(path, file, true)).toMatchObject({ tasks: 2 })
  expect(await inspectDirectory(await restored(file))).toMatchObject({ tasks: 2 })
  await store.close()
  expect(readdirSync(folder)).toEqual(['lull.backup'])
})

it('B2: leaves nothing behind when it fails, and keeps the backup that was there', async () => {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  await store.close()
  const folder = await temporaryDirectory()
  const file = join(folder, 'lull.backup')
  writeFileSync(file, 'the former backup')
  truncateSync(join(path, 'lull.db'), 20_000)
  const refused = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('cut off') }
  await expect(backUpDirectory(path, file, true)).rejects.toMatchObject(refused)
  expect(readdirSync(folder)).toEqual(['lull.backup'])
  expect(statSync(file).size).toBe('the former backup'.length)
})

it('B2: a file that was cut off later does not start, and doctor says so', async () => {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  await store.close()
  const file = join(await temporaryDirectory(), 'lull.backup')
  const { bytes } = await backUpDirectory(path, file)
  truncateSync(file, Math.floor(bytes / 2))
  const copy = await restored(file)
  const why = expect.stringContaining('is cut off')
  expect(await inspectDirectory(copy)).toEqual({ kind: 'broken', why })
  await expect(createSqliteStore({ path: copy })).rejects.toThrow('is cut off')
})

it('B3: starts by itself, also when it is of the instant in which the stamp is renewed', async () => {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  const other = open(join(path, 'lull.db'))
  other.exec('PRAGMA user_version = -77')
  const file = join(await temporaryDirectory(), 'lull.backup')
  await backUpDirectory(path, file)
  other.close()
  await store.close()
  const copy = await restored(file)
  expect(await inspectDirectory(copy)).toEqual({ kind: 'whole', tasks: 1 })
  await (await createSqliteStore({ path: copy })).close()
})

it.each([
  ['a directory', (folder: string) => folder],
  ['a folder that does not exist', (folder: string) => join(folder, 'none', 'file')],
])('refuses %s as its target', async (_, target) => {
  const path = await temporaryDirectory()
  await (await createSqliteStore({ path })).close()
  const to = target(await temporaryDirectory())
  await expect(backUpDirectory(path, to)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

it('refuses a directory without tasks, and makes none', async () => {
  const path = join(await temporaryDirectory(), 'none')
  const file = join(await temporaryDirectory(), 'lull.backup')
  await expect(backUpDirectory(path, file)).rejects.toThrow('there is no lull.db')
  expect([existsSync(path), existsSync(file)]).toEqual([false, false])
})
