import { describe, expect, it } from 'vitest'
import { createSqliteStore } from '../sqlite-store.ts'
import { run, temporaryDirectory } from '../test-support/processes.ts'

const ids = ['task-1', 'task-2', 'task-3']

describe('durability', () => {
  it('has every acknowledged commit after kill -9, whole, and nothing in halves', async () => {
    const path = await temporaryDirectory()
    for (const wanted of [1, 40, 400]) {
      const writer = run('write.mjs', `${path}/${wanted}`)
      await writer.lines(wanted)
      await writer.kill()
      const acknowledged = Number((await writer.lines(wanted)).at(-1))

      const store = await createSqliteStore({ path: `${path}/${wanted}` })
      const logs = await Promise.all(ids.map((id) => store.records('acme', id, 0, 1_000_000)))
      await store.close()

      const versions = logs.map((log) => log.length)
      // The batch in flight was written for all three tasks, or for none.
      expect(new Set(versions).size).toBe(1)
      expect(versions[0]).toBeGreaterThanOrEqual(acknowledged)
      expect(versions[0]).toBeLessThanOrEqual(acknowledged + 1)
      for (const log of logs) expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1))
    }
  })

  it('rejects when the system cannot write, goes on reading, and has lost nothing it acknowledged', async () => {
    const path = await temporaryDirectory()
    // In units of 512 bytes: the files, and so the write-ahead log, cannot grow beyond 1 MiB.
    const writer = run('write.mjs', path, 'ulimit -f 2048')
    const printed = await writer.lines(Number.POSITIVE_INFINITY)
    const { code, message, readable } = JSON.parse(printed.at(-1) ?? '')
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(message).toContain('the disk')
    expect(readable).toHaveLength(1)

    const acknowledged = Number(printed.at(-2))
    const store = await createSqliteStore({ path })
    for (const id of ids) {
      expect(await store.records('acme', id, 0, 1_000_000)).toHaveLength(acknowledged)
    }
    await store.close()
  })
})
