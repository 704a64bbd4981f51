/** Receipts and usage over A2A, in both versions and bindings. */
import { expect, it } from 'vitest'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { testSigner } from '../../../testing/test-signer.ts'
import { all } from '../test-support/frames.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
} from '../test-support/test-server.ts'

const URI = 'urn:lull:a2a:usage:1'

const ways: readonly ((server: TestServer, id: string) => Promise<Loose>)[] = [
  (server, taskId) => server.ok('1.0', 'tasks/list_receipts', { taskId }),
  (server, id) => server.ok('0.3', 'tasks/list_receipts', { id }),
  (server, id) => read(server, `/tasks/${id}:listReceipts`),
  (server, id) => read(server, `/v1/tasks/${id}:listReceipts`),
]

const read = async (server: TestServer, path: string): Promise<Loose> =>
  (await server.fetch('GET', path)).json()

async function parked(server: TestServer, script: readonly object[]): Promise<Loose> {
  const configuration = { returnImmediately: true }
  const message = scripted('1.0', script)
  const { task } = await server.ok('1.0', 'SendMessage', { message, configuration })
  await server.engine.waitFor(anyone, task.id, ({ state }) => state === 'paused-by-agent')
  return task
}

it('shows the receipts of a task as they were signed, in every version and binding', async () => {
  const server = await openTestServer()
  const script = [{ park: { reason: 'ci' } }, { complete: 'done' }]
  const task = await parked(server, script)
  await server.ok('1.0', 'tasks/resume', { taskId: task.id })
  await server.engine.waitFor(anyone, task.id, ({ state }) => state === 'completed')
  const report = await ways[0]?.(server, task.id)
  for (const ask of ways) expect(await ask(server, task.id)).toEqual(report)
  expect(report).toMatchObject({ taskId: task.id, verified: true, faults: [] })
  expect(report.receipts.map(({ kind }: Loose) => kind)).toEqual([
    'SuspensionReceipt',
    'ResumptionReceipt',
  ])
  for (const { verdict, verifiedBy, signature: _hmac, ed25519, ...signed } of report.receipts) {
    expect({ verdict, verifiedBy }).toEqual({
      verdict: 'genuine',
      verifiedBy: ['hmac-sha256', 'ed25519'],
    })
    // With the public key alone.
    expect(testSigner.verifyPublic(canonical(signed), ed25519, signed.keyId)).toBe('genuine')
  }
})

it('shows the receipts of no other caller', async () => {
  const server = await openTestServer()
  const task = await parked(server, [{ park: { reason: 'ci' } }])
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tasks/list_receipts',
    params: { taskId: task.id },
  })
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  const request = new Request('http://lull.test/', { method: 'POST', headers, body })
  const caller = { tenant: 'other', principal: 'eve' }
  const answer = (await (await server.raw(request, { caller }))?.json()) as Loose
  expect(answer.error.code).toBe(-32001)
  const unread = await server.rpc('1.0', 'tasks/list_receipts', { taskId: task.id, which: 'all' })
  expect(unread.error.code).toBe(-32602)
})

it.each(['1.0', '0.3'] as const)('%s: shows what a task has used', async (version) => {
  const server = await openTestServer()
  const script = [
    { say: 'begins' },
    { usage: { inputTokens: 5, outputTokens: 2, costUsd: 0.25 } },
    { usage: { inputTokens: 1 } },
    { say: 'used' },
    { complete: 'done' },
  ]
  const method = version === '1.0' ? 'SendStreamingMessage' : 'message/stream'
  const frames = await all(
    await server.stream(version, method, { message: scripted(version, script) }),
  )
  const updates: Loose[] = frames
    .map(({ data }: Loose) => data.result.statusUpdate ?? data.result)
    .filter(({ status }: Loose) => status !== undefined)
  const used = { inputTokens: 6, outputTokens: 2, costUsd: 0.25 }
  const shown = updates.map(({ metadata }) => metadata?.[URI])
  expect(shown[0]).toBeUndefined()
  expect(shown.at(-1)).toEqual(used)
  expect(shown.filter(Boolean).length).toBeGreaterThan(1)
  const id = updates.at(-1).taskId
  const task = await server.ok(version, version === '1.0' ? 'GetTask' : 'tasks/get', { id })
  expect(task.metadata[URI]).toEqual(used)
})
