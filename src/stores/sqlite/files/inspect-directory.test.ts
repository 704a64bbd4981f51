import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { creation } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'
import { temporaryDirectory } from '../test-support/processes.ts'
import { acceptLoss, inspectDirectory } from './inspect-directory.ts'

async function written(): Promise<string> {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  await store.close()
  return path
}

it('tells a directory that is new, used by a process or whole', async () => {
  const path = join(await temporaryDirectory(), 'data')
  expect(await inspectDirectory(path)).toEqual({ kind: 'unused' })
  expect(existsSync(path)).toBe(false)
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  const owner = expect.stringContaining(`pid ${process.pid}`)
  expect(await inspectDirectory(path)).toEqual({ kind: 'in-use', owner })
  await store.close()
  expect(await inspectDirectory(path)).toEqual({ kind: 'whole', tasks: 1 })
})

it('finds a database that is destroyed', async () => {
  const path = await written()
  const file = join(path, 'lull.db')
  const pages = readFileSync(file)
  for (let at = 4_096; at < pages.length; at += 4_096) pages.fill(0xa5, at, at + 64)
  writeFileSync(file, pages)
  const why = expect.stringContaining('lull.db is damaged')
  expect(await inspectDirectory(path)).toEqual({ kind: 'broken', why })
})

it('finds a copy without its log, and lets it start when the loss is accepted', async () => {
  const path = await temporaryDirectory()
  const store = await createSqliteStore({ path })
  await store.commit([creation('task-1')])
  const copy = await temporaryDirectory()
  cpSync(join(path, 'lull.db'), join(copy, 'lull.db'))
  await store.close()
  const why = expect.stringContaining('--accept-loss')
  expect(await inspectDirectory(copy)).toEqual({ kind: 'broken', why })
  expect(await acceptLoss(copy)).toBe(true)
  expect(await acceptLoss(copy)).toBe(false)
  expect(await inspectDirectory(copy)).toMatchObject({ kind: 'whole' })
  await (await createSqliteStore({ path: copy })).close()
  expect(await acceptLoss(path)).toBe(false)
})
