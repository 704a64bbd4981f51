import { expect, it, onTestFinished } from 'vitest'
import { echo } from '../engine/test-support/engine-harness.ts'
import type { Log } from '../ports/log.ts'
import { createMemoryCluster } from '../stores/memory/memory-cluster.ts'
import { openEngine } from './open-engine.ts'

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
