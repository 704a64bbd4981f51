import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSqliteStore } from '../sqlite-store.ts'
import { run, temporaryDirectory } from '../test-support/processes.ts'

describe('the data directory', () => {
  it('is made when it does not exist, for its owner alone', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b')
    const store = await createSqliteStore({ path })
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    const files = await readdir(path)
    expect(files).toEqual(expect.arrayContaining(['lull.db', 'lull.lock', 'lull.owner']))
    for (const file of files) {
      expect([file, (await stat(join(path, file))).mode & 0o777]).toEqual([file, 0o600])
    }
    await store.close()
  })

  it('is refused with what to do when it cannot be made', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, '')
    await expect(createSqliteStore({ path: join(file, 'data') })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('make it writable, or choose another one'),
    })
  })

  it('is refused with what to do when it cannot be written to', async () => {
    const path = await temporaryDirectory()
    await (await createSqliteStore({ path })).close()
    await chmod(path, 0o555)

    const [answer = ''] = await run('open.mjs', path).lines(1)

    expect(JSON.parse(answer)).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('make it writable, or choose another one'),
    })
  })

  it('is refused when lull.db is something else', async () => {
    const path = await temporaryDirectory()
    await writeFile(join(path, 'lull.db'), 'these are not the bytes of a database, but of a letter')
    await expect(createSqliteStore({ path })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('not a SQLite database'),
    })
  })

  it('is left unlocked by an attempt that failed', async () => {
    const path = await temporaryDirectory()
    await writeFile(join(path, 'lull.db'), 'these are not the bytes of a database, but of a letter')
    await expect(createSqliteStore({ path })).rejects.toThrow()
    await writeFile(join(path, 'lull.db'), '')
    await (await createSqliteStore({ path })).close()
  })
})
