import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMemoryCluster } from '../../stores/memory/memory-cluster.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { publishKey, pushKey, rotatePushKey } from './signing-keys.ts'

const WEEK_MS = 7 * 24 * 3_600_000
let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-published-'))
})
afterEach(() => rmSync(data, { recursive: true }))

it('keeps a key that was replaced for a week after the start with the new one', async () => {
  const store = createMemoryStore()
  let now = 1_000
  const start = async () => publishKey(store, await pushKey({ data }), () => now)
  const kids = async (keys: Awaited<ReturnType<typeof start>>) =>
    (await keys()).map(({ kid }) => kid)
  const [first] = await kids(await start())
  await rotatePushKey({ data })
  now += 10 * WEEK_MS
  const later = await start()
  const both = await kids(later)
  expect(both).toHaveLength(2)
  expect(both[1]).toBe(first)
  now += WEEK_MS - 1
  expect(await kids(await start())).toEqual(both)
  now += 2
  expect(await kids(await start())).toEqual(both.slice(0, 1))
})

it('is the same for all processes on a database while they start again one by one', async () => {
  const cluster = createMemoryCluster(() => 1_000)
  let now = 1_000
  const process = async () => {
    const store = cluster.connect()
    return publishKey(store, await pushKey({ data, store }), () => now)
  }
  const old = await process()
  expect(await old()).toHaveLength(1)
  await rotatePushKey({ data, store: cluster.connect() })
  const young = await process()
  now += 10_000
  expect(await old()).toHaveLength(2)
  expect(await old()).toEqual(await young())
})
