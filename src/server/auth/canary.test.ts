/** Secrets that pass through a server appear in none of its logs, spans, metrics, errors, audit entries and receipts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOps } from '../../client/ops-client.ts'
import { scopes } from '../../core/scopes.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, startServer } from '../serve.ts'
import { createLog } from '../system/log.ts'
import { type RecordedSpans, recordSpans } from '../test-support/recorded-spans.ts'
import { mintKey } from './api-keys.ts'
import { createKeyFile } from './key-file.ts'

let serving: RunningServer
let data: string
let key: string
const lines: string[] = []
const secret = {
  hookToken: 'canary-hook-token-5d41402abc4b',
  hookCredential: 'canary-hook-credential-7d793037',
  query: 'canary-query-0767d4eb9f27',
  jwt: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl',
  input: 'canary-input-9e107d9d372b',
}
/** Callers see these in their own tasks. Operators see them nowhere. */
const words = {
  message: 'canary-message-1bc29b36f623',
  result: 'canary-result-900150983cd2',
  reminder: 'canary-reminder-f96b697d7cb7',
  event: 'canary-event-c3fcd3d76192',
}
let spans: RecordedSpans

beforeAll(async () => {
  spans = recordSpans()
  data = mkdtempSync(join(tmpdir(), 'lull-canary-'))
  serving = await startServer({
    agents: [createScriptAgent()],
    port: 0,
    data,
    auth: { modes: ['keys'] },
    a2a: { pushSign: true },
    log: createLog((line) => lines.push(line), 'debug'),
  })
  const minted = mintKey({ tenant: 'acme', principal: 'ada', scopes }, Date.now())
  key = minted.key
  await createKeyFile(data).add(minted.kept)
})
afterAll(async () => {
  await serving.close()
  await spans.stop()
  rmSync(data, { recursive: true })
})

async function rpc(method: string, params: object, token = key): Promise<string> {
  const response = await fetch(`${serving.url}/?secret=${secret.query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return response.text()
}

it('keeps keys, tokens, webhook credentials and inputs to itself', async () => {
  const answers: string[] = []
  const ask = async (...call: Parameters<typeof rpc>) => {
    const text = await rpc(...call)
    answers.push(text)
    return JSON.parse(text) as { result?: { task?: { id: string } } }
  }
  const script = [
    { step: 'work', stream: words.result },
    { park: { reason: 'x' } },
    { say: words.result },
  ]
  const parts = [{ data: { script } }, { text: words.message }]
  const message = { messageId: 'm', role: 'ROLE_USER', parts }
  const configuration = { returnImmediately: true }
  const { result } = await ask('SendMessage', { message, configuration })
  const taskId = result?.task?.id ?? ''
  const ada = { tenant: 'acme', principal: 'ada' }
  await serving.engine.waitFor(ada, taskId, ({ state }) => state === 'paused-by-agent')
  const authentication = { scheme: 'Bearer', credentials: secret.hookCredential }
  const hook = { taskId, id: 'h', token: secret.hookToken, authentication }
  // The first is refused as private. The second is not found, so its delivery fails and is logged.
  await ask('CreateTaskPushNotificationConfig', { ...hook, url: 'http://127.0.0.1:1/' })
  await ask('CreateTaskPushNotificationConfig', { ...hook, url: 'https://nothing.invalid/' })
  await ask('GetTaskPushNotificationConfig', { taskId, id: 'h' })
  await ask('ListTaskPushNotificationConfigs', { taskId })
  await serving.engine.remind(ada, { taskId, reminder: { body: words.reminder } })
  const event = { id: '1', source: 'ci', type: 'ci.done', data: words.event }
  await serving.engine.emit(ada, [event])
  await ask('tasks/resume', { taskId, input: { secret: secret.input } })
  await ask('GetTask', { id: 'no-such-task' })
  await ask('GetTask', { id: taskId }, `${key}x`)
  await ask('GetTask', { id: taskId }, secret.jwt)
  for (const path of ['/ops/tasks', '/no/such/path', '/tasks/1']) {
    const headers = { authorization: `Bearer ${key.slice(0, -1)}` }
    const response = await fetch(`${serving.url}${path}?token=${secret.query}`, { headers })
    answers.push(await response.text())
  }
  const ops = createOps({ url: serving.url, headers: { authorization: `Bearer ${key}` } })
  const written = async (): Promise<number> => (await ops.receipts(taskId)).receipts.length
  await expect.poll(written).toBeGreaterThan(1)
  const receipts = await ops.receipts(taskId)
  const audit = await ops.audit({ limit: 1_000 })
  expect(audit.entries.length).toBeGreaterThan(3)
  // The delivery that fails is logged and is a span.
  await expect.poll(() => spans.named('push').length).toBeGreaterThan(0)
  const metrics = await fetch(`${serving.url}/metrics`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const shown = spans
    .all()
    .map(({ name, attributes, events, links, status }) => [name, attributes, events, links, status])
  const operators = [...lines, JSON.stringify(shown), await metrics.text()]
  for (const name of ['suspension', 'resume', 'reminder', 'step work'])
    expect(spans.named(name).length, name).toBeGreaterThan(0)
  for (const word of Object.values(words))
    expect([word, operators.join('\n').includes(word)]).toEqual([word, false])
  const seen = [...operators, ...answers, JSON.stringify(receipts), JSON.stringify(audit)].join(
    '\n',
  )
  const hidden = [
    ...Object.values(secret),
    key.slice(-43),
    readFileSync(join(data, 'push.key'), 'utf8').split('\n')[1] ?? '',
  ]
  for (const one of hidden) expect([one, seen.includes(one)]).toEqual([one, false])
})

it('has files that only their owner reads, and keys only as hashes', () => {
  const files = readdirSync(data)
  expect(files).toContain('keys.json')
  expect(readFileSync(join(data, 'keys.json'), 'utf8')).not.toContain(key.slice(-43))
})
