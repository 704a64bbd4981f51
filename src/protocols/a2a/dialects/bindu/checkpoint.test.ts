import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../../../ports/store.ts'
import { createMemoryStore } from '../../../../stores/memory/memory-store.ts'
import { createSqliteStore } from '../../../../stores/sqlite/sqlite-store.ts'
import { checkpointOf } from '../../index.ts'
import {
  anyone,
  openTestServer,
  scripted,
  type TestServer,
} from '../../test-support/test-server.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-checkpoint-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const stores: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memory', async () => createMemoryStore()],
  ['sqlite', () => createSqliteStore({ path: directory })],
]

const checkpoint = async (testServer: TestServer, id: string) =>
  checkpointOf(await testServer.engine.get(anyone, id))

describe.each(stores)('the checkpoint of a task in the %s store', (_name, makeStore) => {
  it('is there while it is stopped, also for the next process, and is what a get shows', async () => {
    const store = await makeStore()
    const testServer = await openTestServer({ store })
    const artifact = { name: 'draft', text: 'so far' }
    const message = scripted('0.3', [{ artifact }, { ask: 'Which?' }, { complete: 'x' }])
    const { id } = await testServer.ok('0.3', 'message/send', { message })
    expect(await checkpoint(testServer, id)).toBeNull()
    await testServer.ok('0.3', 'tasks/pause', { task_id: id })

    const next = await testServer.restart()
    const shown = await checkpoint(next, id)
    expect(shown).toMatchObject({
      paused_from_state: 'input-required',
      message_history: [{ role: 'user', task_id: id }],
      artifacts: [{ name: 'draft', parts: [{ kind: 'text', text: 'so far' }] }],
      paused_at: new Date(next.clock.now()).toISOString(),
    })
    const { metadata } = await next.ok('0.3', 'tasks/get', { task_id: id })
    expect(metadata.checkpoint).toEqual(shown)

    await next.ok('0.3', 'tasks/resume', { task_id: id })
    expect(await checkpoint(next, id)).toBeNull()
    next.a2a.close()
    await next.engine.drain({ timeoutMs: 0 })
    await store.close()
  })
})
