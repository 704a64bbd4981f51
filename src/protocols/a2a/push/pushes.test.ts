/** Cites P1 to P7 of pushes.ts; P5 also in test/crash/webhooks.test.ts, P6 in shared-pushes.test.ts. */
import { describe, expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { keyIn } from '../../../testing/key-in.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import {
  anyone,
  openTestServer,
  scripted,
  type TestServer,
  type TestServerOptions,
  textMessage,
} from '../test-support/test-server.ts'
import { TargetRefused } from './targets.ts'
import { receiver, send, settle, told, url } from './test-support/receiver.ts'

async function withReceiver(
  some: TestServerOptions = {},
): Promise<{ readonly testServer: TestServer; readonly hook: ReturnType<typeof receiver> }> {
  const hook = receiver()
  return {
    testServer: await openTestServer({ ...some, a2a: { post: hook.post, ...some.a2a } }),
    hook,
  }
}

const three = [{ say: 'a' }, { artifact: { name: 'x', text: 'y' } }, { complete: 'z' }]
const toldOfThree = [
  ...['task SUBMITTED', 'WORKING', 'WORKING'],
  ...['artifact x', 'artifact result', 'COMPLETED'],
]

describe('push notifications', () => {
  it('P2: send everything in order, as a stream would', async () => {
    const { testServer, hook } = await withReceiver()
    await send(testServer, three, {
      url,
      token: 't',
      authentication: { scheme: 'Bearer', credentials: 'c' },
    })
    await settle()
    expect(told(hook)).toEqual(toldOfThree)
    expect(hook.got[0]?.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      authorization: 'Bearer c',
      'x-a2a-notification-token': 't',
    })
  })

  it('follow the version of the config: 0.3 gets whole tasks', async () => {
    const { testServer, hook } = await withReceiver()
    const params = {
      message: scripted('0.3', [{ park: { reason: 'r' } }]),
      configuration: { pushNotificationConfig: { url } },
    }
    const { id } = await testServer.ok('0.3', 'message/send', params)
    await settle()
    const bodies = hook.got.map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ kind, status }) => [kind, status.state])).toEqual([
      ['task', 'submitted'],
      ['task', 'working'],
      ['task', 'paused-by-agent'],
    ])
    expect(hook.got[0]?.headers['content-type']).toBe('application/json')
    const [config] = await testServer.ok('0.3', 'tasks/pushNotificationConfig/list', { id })
    expect(config.pushNotificationConfig).toEqual({ id, url })
    const asDefault = { id, pushNotificationConfigId: 'default' }
    expect(await testServer.ok('0.3', 'tasks/pushNotificationConfig/get', asDefault)).toEqual(
      config,
    )
    await testServer.ok('0.3', 'tasks/pushNotificationConfig/delete', asDefault)
    expect(await testServer.store.pushes(...(await keyIn(testServer.store, id)))).toEqual([])
  })

  it.each(['/', '/core'])('of 0.3 get a result in the whole task, once, at %s', async (path) => {
    const { testServer, hook } = await withReceiver()
    const params = {
      message: scripted('0.3', [{ complete: 'z' }]),
      configuration: { pushNotificationConfig: { url } },
    }
    const call = { jsonrpc: '2.0', id: 1, method: 'message/send', params }
    await testServer.fetch('POST', path, call)
    await settle()
    const bodies = hook.got.map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ status }) => status.state)).toEqual(['submitted', 'working', 'completed'])
    expect(bodies.at(-1).artifacts.map(({ name }: { name: string }) => name)).toEqual(
      path === '/core' ? ['result'] : [],
    )
  })

  it('that do not exist are deleted without an entry of the audit log for each', async () => {
    const { testServer } = await withReceiver()
    const id = await send(testServer, three)
    for (let n = 0; n < 100; n++) {
      const unknown = { id, pushNotificationConfigId: `unknown-${n}` }
      await testServer.ok('0.3', 'tasks/pushNotificationConfig/delete', unknown)
    }
    await testServer.engine.audit.flush()
    const entries = await testServer.store.audit({ limit: 1_000 })
    const deleted = entries.filter(({ action }) => action === 'webhook.delete')
    expect(deleted).toHaveLength(21)
    expect(deleted[0]).toMatchObject({ target: 'unknown-0', outcome: 'TASK_NOT_FOUND' })
    expect(deleted.at(-1)).toMatchObject({ further: 80 })
  })

  it('P1, P3: try again with growing pauses, and nothing is lost or out of order', async () => {
    const { testServer, hook } = await withReceiver()
    let attempts = 0
    hook.answer = async () => {
      if (++attempts < 5) throw new Error('down')
    }
    const id = await send(testServer, three)
    await settle()
    expect(attempts).toBe(1)
    for (const ms of [1_000, 2_000, 4_000, 8_000]) {
      testServer.clock.advance(ms / 2 - 1)
      await settle()
      const before = attempts
      testServer.clock.advance(ms / 2 + 1)
      await settle()
      expect(attempts).toBeGreaterThanOrEqual(before)
    }
    expect(told(hook)).toEqual(toldOfThree)
    expect(await testServer.store.pushes(...(await keyIn(testServer.store, id)))).toMatchObject([
      { done: true, attempts: 0 },
    ])
  })

  it('P3: are given up after a day and stay visible', async () => {
    const { testServer, hook } = await withReceiver()
    hook.answer = async () => {
      throw new Error('The receiver answered 500')
    }
    const id = await send(testServer, three)
    for (let hour = 0; hour < 30; hour++) {
      await settle()
      testServer.clock.advance(3_600_000)
    }
    await settle()
    expect(hook.got).toEqual([])
    expect(await testServer.store.listPushes('failed', undefined, 9)).toMatchObject([
      { taskId: id, error: 'The receiver answered 500', failedAt: expect.any(Number) },
    ])
    // A config that is set again starts again.
    hook.answer = async () => undefined
    const [{ id: config = '' } = {}] = await testServer.store.pushes(
      ...(await keyIn(testServer.store, id)),
    )
    await testServer.ok('1.0', 'CreateTaskPushNotificationConfig', { taskId: id, id: config, url })
    expect(await testServer.store.listPushes('failed', undefined, 9)).toEqual([])
  })

  it('are not tried again where they must not go', async () => {
    const { testServer, hook } = await withReceiver()
    hook.answer = async () => {
      throw new TargetRefused('hook resolves to 10.0.0.1, a private address')
    }
    await send(testServer, three)
    await settle()
    expect(await testServer.store.listPushes('failed', undefined, 9)).toHaveLength(1)
  })

  it('P4: go on in the next process where they were', async () => {
    const store = createMemoryStore()
    const clock = createManualClock()
    const { testServer, hook } = await withReceiver({ store, clock })
    let room = 2
    hook.answer = async () => {
      if (room-- <= 0) throw new Error('down')
    }
    await send(testServer, [{ ask: 'ok?' }, { complete: 'z' }])
    await settle()
    expect(told(hook)).toEqual(['task SUBMITTED', 'WORKING'])
    testServer.a2a.close()
    await testServer.engine.drain({ timeoutMs: 0 })

    const next = await withReceiver({ store, clock })
    clock.advance(3_600_000)
    await settle()
    expect(told(next.hook)).toEqual(['INPUT_REQUIRED'])
  })

  it('P4: tell of what happens to a task long after the process that made it', async () => {
    const store = createMemoryStore()
    const clock = createManualClock()
    const first = await withReceiver({ store, clock })
    const id = await send(first.testServer, [{ ask: 'ok?' }, { complete: 'z' }])
    await settle()
    first.testServer.a2a.close()
    await first.testServer.engine.drain({ timeoutMs: 0 })
    const { testServer, hook } = await withReceiver({ store, clock })
    await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'yes', { taskId: id }),
    })
    await settle()
    expect(told(hook)).toEqual(['WORKING', 'artifact result', 'COMPLETED'])
  })

  it.each(['with the message', 'by a call'])(
    'P7: end with the credential that set them (%s)',
    async (how) => {
      let isValid = true
      const asked: string[] = []
      const stillValid = async (credential: string) => {
        asked.push(credential)
        return isValid
      }
      const caller = { ...anyone, credential: 'key-1' }
      const { testServer, hook } = await withReceiver({ a2a: { stillValid }, env: { caller } })
      const ops = [{ ask: 'a?' }, { ask: 'b?' }]
      const byCall = how === 'by a call'
      const taskId = byCall
        ? (await testServer.ok('1.0', 'SendMessage', { message: scripted('1.0', ops) })).task.id
        : await send(testServer, ops)
      if (byCall) await testServer.ok('1.0', 'CreateTaskPushNotificationConfig', { taskId, url })
      const answer = (text: string) =>
        testServer.ok('1.0', 'SendMessage', { message: { ...textMessage('1.0', text), taskId } })
      await answer('one')
      await settle()
      const before = hook.got.length
      expect(before).toBeGreaterThan(0)
      expect(new Set(asked)).toEqual(new Set(['key-1']))

      isValid = false
      await answer('two')
      await settle()
      expect(hook.got).toHaveLength(before)
      const [failed] = await testServer.store.listPushes('failed', undefined, 9)
      expect(failed).toMatchObject({ taskId, error: expect.stringContaining('credential') })
    },
  )

  it('P4: are done with the write that says that the last event was sent', async () => {
    const inner = createMemoryStore()
    const written: Push[] = []
    const store: Store = {
      ...inner,
      async replacePush(before, after) {
        written.push(after)
        return inner.replacePush(before, after)
      },
    }
    const { testServer } = await withReceiver({ store })
    const taskId = await send(testServer, three)
    await settle()
    expect(written.at(-1)).toMatchObject({ done: true })
    expect(new Set(written.map(({ sentSeq }) => sentSeq)).size).toBe(written.length)
    // One that is set afterwards has nothing to send.
    await testServer.ok('1.0', 'CreateTaskPushNotificationConfig', { taskId, id: 'late', url })
    expect(await store.listPushes('open', undefined, 9)).toEqual([])
  })

  it('P5: come with their task in one write, and a repeated message brings no second one', async () => {
    const { testServer, hook } = await withReceiver()
    const params = {
      message: scripted('1.0', [{ ask: 'ok?' }], { messageId: crypto.randomUUID() }),
      configuration: { taskPushNotificationConfig: { url } },
    }
    const { task } = await testServer.ok('1.0', 'SendMessage', params)
    const first = await testServer.store.pushes(...(await keyIn(testServer.store, task.id)))
    expect(first).toHaveLength(1)
    await testServer.ok('1.0', 'SendMessage', params)
    await settle()
    const [known, ...more] = await testServer.store.pushes(
      ...(await keyIn(testServer.store, task.id)),
    )
    expect([known?.id, more]).toEqual([first[0]?.id, []])
    expect(told(hook)).toEqual(['task SUBMITTED', 'WORKING', 'INPUT_REQUIRED'])
    // A webhook that the first message did not have is set too.
    const other = { taskPushNotificationConfig: { url: `${url}/other` } }
    await testServer.ok('1.0', 'SendMessage', { ...params, configuration: other })
    expect(await testServer.store.pushes(...(await keyIn(testServer.store, task.id)))).toHaveLength(
      2,
    )
  })

  it('P5: leave no trace with a message that is refused', async () => {
    const { testServer } = await withReceiver()
    const { task } = await testServer.ok('1.0', 'SendMessage', {
      message: scripted('1.0', [{ complete: 'x' }]),
    })
    const late = {
      message: textMessage('1.0', 'more', { taskId: task.id, messageId: 'late' }),
      configuration: { taskPushNotificationConfig: { url } },
    }
    expect((await testServer.rpc('1.0', 'SendMessage', late)).error.code).toBe(-32004)
    expect(await testServer.store.pushes(...(await keyIn(testServer.store, task.id)))).toEqual([])
  })

  it('P4: one webhook never waits for another', async () => {
    const { testServer, hook } = await withReceiver()
    hook.answer = (delivery) =>
      delivery.url.endsWith('slow') ? new Promise(() => undefined) : Promise.resolve()
    const id = await send(testServer, [{ ask: 'ok?' }, { complete: 'z' }], { url: `${url}/slow` })
    await testServer.ok('1.0', 'CreateTaskPushNotificationConfig', { taskId: id, url })
    await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'yes', { taskId: id }),
    })
    await settle()
    expect(told(hook)).toEqual(['WORKING', 'artifact result', 'COMPLETED'])
  })

  it('P4: a retry of one webhook does not wait for the longer pause of another', async () => {
    const { testServer, hook } = await withReceiver()
    const attempts: string[] = []
    hook.answer = async ({ url: to }) => {
      attempts.push(to)
      throw new Error('down')
    }
    const id = await send(testServer, [{ ask: 'ok?' }], { url: `${url}/first` })
    await settle()
    // The first webhook has failed often, so its pause is long.
    for (let n = 0; n < 6; n++) {
      testServer.clock.advance(64_000)
      await settle()
    }
    await testServer.ok('1.0', 'CreateTaskPushNotificationConfig', {
      taskId: id,
      url: `${url}/second`,
    })
    await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'yes', { taskId: id }),
    })
    await settle()
    attempts.length = 0
    testServer.clock.advance(1_000)
    await settle()
    expect(attempts).toContain(`${url}/second`)
  })

  it('tell nothing more once the config is deleted, and reminders never', async () => {
    const { testServer, hook } = await withReceiver()
    const id = await send(testServer, [{ ask: 'ok?' }, { turn: [{ say: 'x' }] }], {
      url,
      id: 'mine',
    })
    await testServer.ok('1.0', 'tasks/inject_reminder', { taskId: id, reminder: { body: 'b' } })
    await settle()
    expect(told(hook)).toEqual(['task SUBMITTED', 'WORKING', 'INPUT_REQUIRED'])
    await testServer.ok('1.0', 'DeleteTaskPushNotificationConfig', { taskId: id, id: 'mine' })
    await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'yes', { taskId: id }),
    })
    await settle()
    expect(hook.got).toHaveLength(3)
  })

  it.each([
    ['no url', {}],
    ['a url that is none', { url: 'nope' }],
    ['another protocol', { url: 'file:///etc/passwd' }],
    ['credentials in the url', { url: 'https://me:secret@example.com/' }],
    ['localhost', { url: 'http://localhost:80/' }],
    ['a loopback address', { url: 'http://127.0.0.1/' }],
    ['a loopback address in disguise', { url: 'http://2130706433/' }],
    ['a private address', { url: 'http://192.168.1.1/' }],
    ['the metadata service', { url: 'http://169.254.169.254/latest' }],
    ['IPv6 loopback', { url: 'http://[::1]/' }],
    ['IPv4 in IPv6', { url: 'http://[::ffff:10.0.0.1]/' }],
    ['a header in the token', { url, token: 'a\r\nx: y' }],
    [
      'a header in the credentials',
      { url, authentication: { scheme: 'Bearer', credentials: 'a\nb' } },
    ],
    ['a scheme that is none', { url, authentication: { scheme: 'a b' } }],
  ])('are refused for %s', async (_what, target) => {
    const { testServer } = await withReceiver()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const params = { taskId: task.id, ...target }
    const answer = await testServer.rpc('1.0', 'CreateTaskPushNotificationConfig', params)
    expect(answer.error?.code).toBe(-32602)
    expect(await testServer.store.pushes(...(await keyIn(testServer.store, task.id)))).toEqual([])
  })

  it('need a config that exists, of a task that is yours', async () => {
    const { testServer } = await withReceiver()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const get = { taskId: task.id, id: 'nope' }
    const { error } = await testServer.rpc('1.0', 'GetTaskPushNotificationConfig', get)
    expect(error).toMatchObject({
      code: -32001,
      message: `Task ${task.id} has no push notification config nope`,
      data: [{ metadata: { taskId: task.id, pushNotificationConfigId: 'nope' } }],
    })
    const old = { id: task.id }
    const without = await testServer.rpc('0.3', 'tasks/pushNotificationConfig/get', old)
    expect(without.error.message).toBe(`Task ${task.id} has no push notification config`)
    for (const method of ['GetTaskPushNotificationConfig', 'DeleteTaskPushNotificationConfig']) {
      const incomplete = await testServer.rpc('1.0', method, { taskId: task.id })
      expect(incomplete.error.message).toBe('id: is required')
    }
    expect(await testServer.ok('1.0', 'DeleteTaskPushNotificationConfig', get)).toEqual({})
    const foreign = { taskId: 'nope', url }
    expect(
      (await testServer.rpc('1.0', 'CreateTaskPushNotificationConfig', foreign)).error.code,
    ).toBe(-32001)
  })

  it('are refused as a whole by a server that has none', async () => {
    const testServer = await openTestServer({ a2a: { store: undefined as never } })
    const params = { taskId: 'x', url }
    expect(
      (await testServer.rpc('1.0', 'CreateTaskPushNotificationConfig', params)).error.code,
    ).toBe(-32003)
    const message = textMessage('1.0', 'x')
    const configuration = { taskPushNotificationConfig: { url } }
    const sent = await testServer.rpc('1.0', 'SendMessage', { message, configuration })
    expect(sent.error.code).toBe(-32003)
    expect(await testServer.ok('1.0', 'ListTasks')).toMatchObject({ totalSize: 0 })
  })
})
