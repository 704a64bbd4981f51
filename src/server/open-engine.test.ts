import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { alice, echo, message } from '../engine/test-support/engine-harness.ts'
import type { Log } from '../ports/log.ts'
import { createMemoryCluster } from '../stores/memory/memory-cluster.ts'
import { openEngine } from './open-engine.ts'

const quiet: Log = () => undefined

it('names its process in every line of the log when several processes share the store', async () => {
  const store = createMemoryCluster(() => Date.now()).connect()
  const lines: unknown[] = []
  const log: Log = (level, text, facts) => lines.push({ level, text, ...facts })
  const receiptKey = 'a key that all processes have'
  const open = await openEngine({ agents: [echo], store, receiptKey, log })
  onTestFinished(() => open.close())
  open.deps.log('info', 'a line of the server', { url: 'here' })
  const worker = open.engine.worker()
  expect(lines).toEqual([{ level: 'info', text: 'a line of the server', url: 'here', worker }])
  expect(await open.engine.workers()).toMatchObject([{ id: worker, here: true, pid: process.pid }])
})

it('gives adapters the clock of a shared store, not that of the process', async () => {
  const HOUR_MS = 3_600_000
  const store = createMemoryCluster(() => Date.now() - HOUR_MS).connect()
  const open = await openEngine({
    agents: [echo],
    store,
    receiptKey: 'a key that all processes have',
    log: quiet,
  })
  onTestFinished(() => open.close())
  const behindMs = Date.now() - open.deps.clock.now()
  expect(Math.abs(behindMs - HOUR_MS)).toBeLessThan(HOUR_MS / 2)
})

it('refuses new work before the disk of its database is full', async () => {
  const data = await mkdtemp(join(tmpdir(), 'lull-disk-'))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const log: Log = () => undefined
  const openWith = (freeDiskBytes: number) =>
    openEngine({ agents: [echo], data, log, options: { freeDiskBytes } })
  // No disk has so much free space.
  const full = await openWith(Number.MAX_SAFE_INTEGER)
  const sent = full.engine.send(alice, { message: message('hello') })
  await expect(sent).rejects.toMatchObject({
    code: 'OVERLOADED',
    details: { limit: 'freeDiskBytes', retryAfterMs: 60_000 },
  })
  await full.close()
  const free = await openWith(0)
  onTestFinished(() => free.close())
  await expect(free.engine.send(alice, { message: message('hello') })).resolves.toBeDefined()
})
