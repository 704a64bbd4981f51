/** A webhook whose certificate nobody vouches for: our own TLS stack against a real receiver. */
import { readFileSync } from 'node:fs'
import { createServer, globalAgent, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Push } from '../../../src/core/push.ts'
import {
  openTestServer,
  scripted,
  type TestServer,
} from '../../../src/protocols/a2a/test-support/test-server.ts'
import { keyIn } from '../../../src/testing/key-in.ts'
import { eventually } from './harness.ts'

const fixture = (name: string): string =>
  readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
const cert = fixture('untrusted-cert.pem')
const trustedBefore = globalAgent.options.ca

let receiver: Server
let received: string[]
beforeEach(async () => {
  received = []
  receiver = createServer(
    { cert, key: fixture('untrusted-key.pem') },
    async (request, response) => {
      received.push((await request.toArray()).join(''))
      response.writeHead(204).end()
    },
  )
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  globalAgent.options.ca = trustedBefore
  receiver.closeAllConnections()
  receiver.close()
})

async function send(testServer: TestServer): Promise<string> {
  const { port } = receiver.address() as AddressInfo
  const { task } = await testServer.ok('1.0', 'SendMessage', {
    message: scripted('1.0', [{ say: 'half' }, { complete: 'done' }]),
    configuration: { taskPushNotificationConfig: { url: `https://127.0.0.1:${port}/` } },
  })
  return task.id
}

/** The webhook once it has failed so often. */
async function failed(testServer: TestServer, taskId: string, attempts: number): Promise<Push> {
  let push: Push | undefined
  await eventually(async () => {
    ;[push] = await testServer.store.pushes(...(await keyIn(testServer.store, taskId)))
    return push?.attempts === attempts
  })
  return push as Push
}

const open = (): Promise<TestServer> => openTestServer({ a2a: { config: { pushToPrivate: true } } })

it('is tried again with growing pauses, told nothing, and loses nothing', async () => {
  const testServer = await open()
  const id = await send(testServer)
  for (let attempt = 1; attempt <= 6; attempt++) {
    const push = await failed(testServer, id, attempt)
    expect(push).toMatchObject({ sentSeq: 0, error: 'self-signed certificate' })
    expect(await testServer.store.listPushes('open', undefined, 9)).toMatchObject([{ taskId: id }])
    const pause = (push.retryAt ?? 0) - testServer.clock.now()
    const longest = 1_000 * 2 ** (attempt - 1)
    expect(pause).toBeGreaterThanOrEqual(longest / 2)
    expect(pause).toBeLessThanOrEqual(longest)
    testServer.clock.advance(pause)
  }
  const { retryAt = 0 } = await failed(testServer, id, 7)
  expect(received).toEqual([])

  // Somebody vouches for it now: everything comes, from the beginning and in order.
  globalAgent.options.ca = cert
  testServer.clock.advance(retryAt - testServer.clock.now())
  await eventually(
    async () =>
      (await testServer.store.pushes(...(await keyIn(testServer.store, id))))[0]?.done === true,
  )
  const states = received.map((body) => {
    const { task, statusUpdate, artifactUpdate } = JSON.parse(body)
    return (
      artifactUpdate?.artifact.name ??
      (task ?? statusUpdate).status.state.replace('TASK_STATE_', '')
    )
  })
  expect(states).toEqual(['SUBMITTED', 'WORKING', 'WORKING', 'result', 'COMPLETED'])
})

it('is given up after a day, for all to see', async () => {
  const testServer = await open()
  const id = await send(testServer)
  await failed(testServer, id, 1)
  testServer.clock.advance(24 * 3_600_000)
  await failed(testServer, id, 2)
  const parked = await testServer.store.listPushes('failed', undefined, 9)
  const visible = { taskId: id, error: 'self-signed certificate', failedAt: testServer.clock.now() }
  expect(parked).toMatchObject([visible])
  expect(received).toEqual([])
})
