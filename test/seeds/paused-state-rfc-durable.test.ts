/** The PAUSED state RFC (A2A): a stop outlives the server, and webhooks are told of it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'

const received: Loose[] = []
let hook: Server
let harness: Harness

beforeAll(async () => {
  hook = createServer(async (request, response) => {
    received.push(JSON.parse(await text(request)))
    response.writeHead(200).end()
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  harness = await openHarness({
    agents: [createScriptAgent()],
    config: { a2a: { pushToPrivate: true } },
  })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
  hook.closeAllConnections()
  hook.close()
})

const CONTROL = 'urn:lull:a2a:task-control:1'
const busy = { repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }
const park = { park: { reason: 'waiting', conditions: { onEvent: 'go' } } }

it('a paused task is found again by the next server, and resumed under the handle of the first', async () => {
  const { id } = await harness.script([busy])
  await harness.until(id, 'working')
  const { handle, pausedAt } = await harness.result('tasks/pause', { taskId: id, reason: 'review' })
  const before = await harness.get(id)
  await harness.restart()
  expect(await harness.get(id)).toEqual(before)
  const again = await harness.result('tasks/pause', { taskId: id })
  expect(again).toMatchObject({ handle, pausedAt, reason: 'review' })
  const resumed = await harness.result('tasks/resume', { taskId: id, handle })
  expect(resumed).toMatchObject({ state: 'working', previousState: 'paused-by-client' })
  await harness.result('tasks/cancel', { id })
})

it('a parked task is woken in the next server by the event it waited for', async () => {
  const { id } = await harness.script([park, { echo: 'wake' }])
  await harness.until(id, 'paused-by-agent')
  await harness.restart()
  expect((await harness.get(id)).status.state).toBe('paused-by-agent')
  await harness.emit({ type: 'go' })
  const { artifacts } = await harness.until(id, 'completed')
  expect(artifacts[0].parts[0].data).toMatchObject({ cause: 'condition_fired' })
})

it('webhooks are told of every stop and wake, in order, and of no notification or reminder', async () => {
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`
  const { id } = await harness.script([park, busy])
  await harness.until(id, 'paused-by-agent')
  const config = { taskId: id, pushNotificationConfig: { url } }
  await harness.result('tasks/pushNotificationConfig/set', config)
  await harness.result('tasks/inject_reminder', { taskId: id, reminder: { body: 'Mind the gap.' } })
  await harness.result('tasks/resume', { taskId: id })
  await harness.result('tasks/pause', { taskId: id })
  await harness.result('tasks/resume', { taskId: id })
  await harness.result('tasks/await_resumption', { taskId: id, reason: 'again' })
  await harness.result('tasks/cancel', { id })
  await expect.poll(() => received.at(-1)?.status.state).toBe('canceled')
  // A pause that waits for the running step is told as well, as working.
  const settled = received.filter(({ metadata }) => !metadata[CONTROL].pausing)
  expect(settled.map(({ kind, status }) => [kind, status.state])).toEqual([
    ['task', 'working'],
    ['task', 'paused-by-client'],
    ['task', 'working'],
    ['task', 'paused-by-agent'],
    ['task', 'canceled'],
  ])
})
