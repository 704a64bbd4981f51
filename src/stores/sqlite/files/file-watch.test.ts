import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { creation, sampleRecords, step } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'
import { temporaryDirectory } from '../test-support/processes.ts'
import { loadDriver } from './driver.ts'

const open = await loadDriver()

const losses: Readonly<Record<string, (file: string) => void>> = {
  'lull.db is removed': (file) => rmSync(file),
  'lull.db is moved away': (file) => renameSync(file, `${file}.old`),
  'lull.db is replaced': (file) => {
    copyFileSync(file, `${file}.new`)
    renameSync(`${file}.new`, file)
  },
  'lull.db is emptied': (file) => truncateSync(file),
  'lull.db is cut off': (file) => truncateSync(file, 20_000),
  'lull.db is overwritten': (file) => writeFileSync(file, 'x'.repeat(500_000)),
  'lull.db-wal is removed': (file) => rmSync(`${file}-wal`),
  'lull.db-wal is cut off': (file) => truncateSync(`${file}-wal`, 5_000),
  'lull.db-wal is emptied': (file) => truncateSync(`${file}-wal`),
  'the directory is removed': (file) => rmSync(join(file, '..'), { recursive: true }),
}

interface Running {
  readonly path: string
  readonly store: Store
  readonly lost: string[]
}

async function running(maxLogBytes?: number): Promise<Running> {
  const path = await temporaryDirectory()
  const lost: string[] = []
  const more = maxLogBytes === undefined ? {} : { maxLogBytes }
  const store = await createSqliteStore({
    path,
    durability: 'relaxed',
    lost: ({ details }) => lost.push(details.why),
    ...more,
  })
  await store.commit([creation('task-1'), creation('task-2')])
  return { path, store, lost }
}

describe('under a running store', () => {
  it.each(Object.entries(losses))(
    'F1, F2: %s, and nothing more is acknowledged',
    async (name, lose) => {
      const { path, store, lost } = await running()
      const file = join(path, 'lull.db')
      lose(file)
      const refusal = {
        code: 'STORE_UNAVAILABLE',
        details: {
          restart: true,
          why: expect.stringContaining(name.includes('-wal') ? `${file}-wal` : file),
        },
      }
      await expect(store.commit([step('task-1', 2)])).rejects.toMatchObject(refusal)
      await expect(store.check()).rejects.toMatchObject(refusal)
      await expect(store.setValue('x', 1)).rejects.toMatchObject(refusal)
      expect(lost).toHaveLength(1)
      await store.close()
    },
  )

  it('a program that copies the log into the file, empties it and makes the file smaller is no loss', async () => {
    const { path, store, lost } = await running()
    const records = sampleRecords(2, 'x'.repeat(2_000_000))
    await store.commit([step('task-1', 2, { records })])
    const other = open(join(path, 'lull.db'))
    other.exec(`UPDATE records SET body = '[]'`)
    other.exec('VACUUM')
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    await store.commit([creation('task-3')])
    other.close()
    await store.check()
    expect(lost).toEqual([])
    await store.close()
  })

  it('answers a question about its space clearly when the directory is gone', async () => {
    const { path, store } = await running()
    rmSync(path, { recursive: true })
    await expect(store.space()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.close()
  })
})

describe('the write-ahead log', () => {
  it('stops growing while another program reads, and becomes short again afterwards', async () => {
    const { path, store, lost } = await running(8_000_000)
    const reader = open(join(path, 'lull.db'))
    reader.exec('BEGIN')
    reader.exec('SELECT count(*) FROM tasks')
    let written = 0
    const write = () => {
      const records = sampleRecords(written + 2, 'x'.repeat(1_000_000))
      return store.commit([step('task-1', written + 2, { records })])
    }
    let failure: unknown
    while (failure === undefined && written < 100) {
      failure = await write().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined) written++
    }
    expect(failure).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('another program reads lull.db'),
    })
    expect(written).toBeLessThan(12)
    await expect(store.check()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    reader.exec('COMMIT')
    reader.close()
    await store.check()
    expect(await write()).toEqual([{ status: 'written' }])
    expect(lost).toEqual([])
    await store.close()
  })
})
