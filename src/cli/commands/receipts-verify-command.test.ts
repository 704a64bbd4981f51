/** `lull receipts verify` with keys of different scopes, against a real server. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createClient } from '../../client/client.ts'
import type { Scope } from '../../core/scopes.ts'
import { type KeyedServer, openKeyedServer } from '../../server/test-support/keyed-server.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

let server: KeyedServer
beforeAll(async () => {
  server = await openKeyedServer()
})
afterAll(() => server.close())

const minted = (principal: string, scopes: readonly Scope[]) =>
  server.mint({ tenant: 'acme', principal, scopes })

/** A task of ann that has stopped, so that it has a receipt. */
async function parkedTask(): Promise<string> {
  const { headers } = await minted('ann', ['tasks:write', 'tasks:read'])
  const client = createClient({ url: server.serving.url, headers })
  const script = JSON.stringify({ script: [{ park: { reason: 'waits' } }] })
  const sent = await client.send(script)
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

async function verify(taskId: string, key: string) {
  vi.stubEnv('LULL_TOKEN', key)
  const io = createFakeIo()
  const code = await runCli(['receipts', 'verify', taskId, '--url', server.serving.url], io)
  return { code, text: [...io.out, ...io.err].join('\n') }
}

it.each([
  ['the owner of the task, who may only read tasks', 'ann', 'tasks:read'],
  ['an operator, who may read no tasks', 'olga', 'ops:read'],
] as const)('%s verifies its receipts', async (_, principal, scope) => {
  const taskId = await parkedTask()
  const { key } = await minted(principal, [scope])
  const { code, text } = await verify(taskId, key)
  expect(text).toMatch(/1 receipt, \d+ records: .*verified/)
  expect(code).toBe(0)
})

it('another principal is told that there is no such task', async () => {
  const taskId = await parkedTask()
  const { key } = await minted('mallory', ['tasks:read'])
  const { code, text } = await verify(taskId, key)
  expect(code).toBe(1)
  expect(text).toMatch(/not found|no task/i)
})
