/** The embedded store as it ships: with writes on a thread of their own, which only the build can start. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import * as vitest from 'vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import type * as Sqlite from '../../src/stores/sqlite/sqlite-store.ts'
import { creation, sampleClaim, step } from '../../src/testing/sample-task.ts'
import { describeStoreContract, type StoreUnderTest } from '../../src/testing/store-contract.ts'

const built = new URL('../../dist/stores/sqlite/sqlite-store.js', import.meta.url)
const { createSqliteStore } = (await import(built.href)) as typeof Sqlite

async function makeStore(): Promise<StoreUnderTest> {
  const path = await mkdtemp(join(tmpdir(), 'lull-thread-'))
  let store = await createSqliteStore({ path, durability: 'relaxed' })
  return {
    store,
    async reopen() {
      await store.close()
      store = await createSqliteStore({ path, durability: 'relaxed' })
      return store
    },
    async cleanup() {
      await store.close()
      await rm(path, { recursive: true })
    },
  }
}

describeStoreContract(vitest, 'the SQLite store with a thread', makeStore)

const unavailable = { code: 'STORE_UNAVAILABLE' }

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'lull-thread-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('the writing thread', () => {
  it('says when the disk is full, and writes again once there is room', async () => {
    const store = await createSqliteStore({ path: await directory(), maxBytes: 400_000 })
    const fat = (id: string) =>
      creation(id, {}, { claim: sampleClaim(id, { key: id, digest: 'x'.repeat(50_000) }) })
    let written = 0
    let failure: unknown
    while (failure === undefined && written < 100) {
      failure = await store.commit([creation(`small-${written}`), fat(`fat-${written}`)]).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined) written++
    }
    expect(failure).toMatchObject(unavailable)
    expect((failure as Error).message).toContain('the disk is full')
    expect(await store.load('acme', `small-${written}`)).toBeUndefined()
    expect(await store.count({})).toBe(written * 2)
    await store.pruneClaims(2_000, 3)
    expect(await store.commit([step('small-0', 2)])).toEqual([{ status: 'written' }])
    await store.close()
  })

  it('carries out what it was asked for in that order, and the rest before it closes', async () => {
    const path = await directory()
    const store = await createSqliteStore({ path })
    expect(await store.findClaim(sampleClaim('x'))).toBeUndefined()
    const first = store.commit([creation('task-1')])
    const steps = [2, 3, 4, 5].map((version) => store.commit([step('task-1', version)]))
    const late = store.commit([step('task-1', 3)])
    const closed = store.close()
    expect(await first).toEqual([{ status: 'written' }])
    expect((await Promise.all(steps)).flat().map(({ status }) => status)).toEqual(
      Array(4).fill('written'),
    )
    expect(await late).toEqual([{ status: 'conflict', version: 6 }])
    await closed
    await expect(store.commit([step('task-1', 6)])).rejects.toMatchObject(unavailable)
    await expect(store.findClaim(sampleClaim('x'))).rejects.toMatchObject(unavailable)
    const again = await createSqliteStore({ path })
    expect(await again.records('acme', 'task-1', 0, 99)).toHaveLength(6)
    await again.close()
  })

  it('answers each batch for itself, also where several were written together', async () => {
    const store = await createSqliteStore({ path: await directory() })
    const claim = sampleClaim('task-1')
    // Refused by SQLite itself, so that what was written with it is written again.
    const bad = creation('bad', { tenant: undefined as never })
    const batches = [
      [creation('task-1', {}, { claim }), creation('task-2')],
      [bad],
      [creation('late', {}, { claim: sampleClaim('late') }), step('task-2', 2)],
      [step('task-2', 2)],
      Array.from({ length: 200 }, (_, n) => creation(`many-${n}`)),
      [step('task-2', 3), step('many-199', 2)],
    ]
    const results = await Promise.all(batches.map((batch) => store.commit(batch)))
    const written = { status: 'written' }
    expect(results).toEqual([
      [written, written],
      [expect.objectContaining({ status: 'failed' })],
      [{ status: 'claimed', claim }, written],
      [{ status: 'conflict', version: 3 }],
      Array(200).fill(written),
      [written, written],
    ])
    expect(await store.count({})).toBe(202)
    await store.close()
  })

  it('fails every write once it has ended by itself, and loses nothing it confirmed', async () => {
    const path = await directory()
    let thread: Worker | undefined
    process.once('worker', (started: Worker) => {
      thread = started
    })
    const store = await createSqliteStore({ path })
    await store.commit([creation('task-1')])
    // Between two calls: in the middle of one it would take the process along.
    const ending = thread?.terminate()
    await expect(store.commit([step('task-1', 2)])).rejects.toMatchObject(unavailable)
    await ending
    await expect(store.commit([step('task-1', 2)])).rejects.toMatchObject(unavailable)
    await expect(store.check()).rejects.toMatchObject(unavailable)
    expect(await store.records('acme', 'task-1', 0, 9)).toHaveLength(2)
    await store.close()

    const again = await createSqliteStore({ path })
    expect(await again.commit([step('task-1', 2)])).toEqual([{ status: 'written' }])
    await again.close()
  })

  it('keeps a process running until it has answered, and no longer', async () => {
    const script = `
      const { createSqliteStore } = await import(${JSON.stringify(built.href)})
      const store = await createSqliteStore({ path: process.argv[1] })
      store.setValue('left', 1).then(() => console.log('written'))
    `
    const path = await directory()
    const run = promisify(execFile)
    const args = ['--input-type=module', '-e', script, path]
    expect((await run(process.execPath, args)).stdout).toBe('written\n')
    const store = await createSqliteStore({ path })
    expect(await store.getValue('left')).toBe(1)
    await store.close()
  })

  it('keeps the locks of its process on lull.db, also when lull.lock was removed', async () => {
    const script = `
      const { createSqliteStore } = await import(${JSON.stringify(built.href)})
      await createSqliteStore({ path: process.argv[1] }).catch(({ code }) => console.log(code))
    `
    const path = await directory()
    const store = await createSqliteStore({ path })
    await rm(join(path, 'lull.lock'))
    const run = promisify(execFile)
    const second = await run(process.execPath, ['--input-type=module', '-e', script, path])
    expect(second.stdout).toBe('STORE_LOCKED\n')
    await store.close()
  })

  it('lets a process exit at any time, with the code it chose', async () => {
    const script = `
      const { createSqliteStore } = await import(${JSON.stringify(built.href)})
      const store = await createSqliteStore({ path: process.argv[1] })
      for (let n = 0; n < 50; n++) store.setValue('fact', n)
      setImmediate(() => process.exit(7))
    `
    const run = promisify(execFile)
    for (let n = 0; n < 5; n++) {
      const exit = run(process.execPath, ['--input-type=module', '-e', script, await directory()])
      await expect(exit).rejects.toMatchObject({ code: 7, stderr: '' })
    }
  })
})
