import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { creation } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'
import { run, temporaryDirectory } from '../test-support/processes.ts'

describe('the lock of a data directory', () => {
  it('refuses a second process at once, and says who has the directory', async () => {
    const path = await temporaryDirectory()
    const holder = run('hold.mjs', path)
    await holder.lines(1)

    await expect(createSqliteStore({ path })).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      details: { path, owner: expect.stringMatching(`^pid ${holder.child.pid} on .+, since 2`) },
    })

    await holder.end()
    await (await createSqliteStore({ path })).close()
  })

  it('refuses a second process also when lull.lock was removed while the first one runs', async () => {
    const path = await temporaryDirectory()
    const holder = run('hold.mjs', path)
    await holder.lines(1)
    rmSync(join(path, 'lull.lock'))

    await expect(createSqliteStore({ path })).rejects.toMatchObject({ code: 'STORE_LOCKED' })

    await holder.end()
    await (await createSqliteStore({ path })).close()
  })

  it('is gone with the process that held it, also after kill -9', async () => {
    const path = await temporaryDirectory()
    const holder = run('hold.mjs', path)
    await holder.lines(1)
    await holder.kill()
    expect(existsSync(join(path, 'lull.owner'))).toBe(true)

    const store = await createSqliteStore({ path })
    expect(await store.commit([creation('task-1')])).toEqual([{ status: 'written' }])
    await store.close()
    expect(existsSync(join(path, 'lull.owner'))).toBe(false)
  })

  it('waits for a process that is about to leave, when asked to', async () => {
    const path = await temporaryDirectory()
    const holder = run('hold.mjs', path)
    await holder.lines(1)
    const opening = createSqliteStore({ path, waitForLockMs: 30_000 })
    await holder.end()
    await (await opening).close()
  })

  it('holds within one process too, and one refused attempt does not loosen it', async () => {
    const path = await temporaryDirectory()
    const store = await createSqliteStore({ path })
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(createSqliteStore({ path })).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    }
    const other = run('hold.mjs', path)
    expect(await other.lines(1)).toEqual(['STORE_LOCKED'])
    await store.close()
  })
})
