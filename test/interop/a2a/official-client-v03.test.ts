/** The unmodified official client of the generation before, 0.3.13, against our server. */
import type { Message, Task, TaskStatusUpdateEvent } from 'a2a-js-v03'
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-js-v03/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, eventually, type Harness, openHarness, UNTIL_PAUSED } from './harness.ts'

let harness: Harness
let client: Client
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

let count = 0

type Event = Message | Task | TaskStatusUpdateEvent | { kind: string }

function request(value: unknown, some: object = {}, configuration?: object): never {
  const part =
    typeof value === 'string'
      ? { kind: 'text', text: value }
      : { kind: 'data', data: { script: value } }
  const message = {
    kind: 'message',
    messageId: `m-${++count}`,
    role: 'user',
    parts: [part],
    ...some,
  }
  return { message, ...(configuration === undefined ? {} : { configuration }) } as never
}

const send = (value: unknown, some?: object, configuration?: object) =>
  client.sendMessage(request(value, some, configuration)) as Promise<Task>

const transports = {
  JSONRPC: () => new JsonRpcTransportFactory(),
  'HTTP+JSON': () => new RestTransportFactory(),
}

it('finds an agent by its URL, with the slash that Lull prints and, where there is one agent, without', async () => {
  for (const url of [`${harness.url}/agents/script/`, `${harness.url}/agents/script`]) {
    const found = await new ClientFactory().createFromUrl(url)
    expect(await found.sendMessage(request('hello'))).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
    })
  }
})

describe.each(['JSONRPC', 'HTTP+JSON'] as const)(
  'the official 0.3.13 client over %s',
  (transport) => {
    beforeAll(async () => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [transports[transport]()],
        preferredTransports: [transport],
      })
      client = await new ClientFactory(options).createFromUrl(harness.url)
    })

    it('sends and gets the ended task', async () => {
      const task = await send('hello')
      expect(task).toMatchObject({
        kind: 'task',
        status: { state: 'completed' },
        artifacts: [{ name: 'echo', parts: [{ kind: 'text', text: 'hello' }] }],
      })
    })

    it('gets what the agent returned as one artifact, the same one whenever it asks', async () => {
      const sent = await send([{ complete: 'it is done' }])
      expect(sent.artifacts).toMatchObject([
        { name: 'result', parts: [{ kind: 'text', text: 'it is done' }] },
      ])
      expect((await client.getTask({ id: sent.id })).artifacts).toEqual(sent.artifacts)
    })

    it('waits for the end of a task that stops in between, as it cannot see the stop', async () => {
      const conditions = { timeout: { durationMinutes: 0.005, onTimeout: 'resume_with_summary' } }
      const done = await send([
        { park: { reason: 'waiting', conditions } },
        { complete: 'it goes on' },
      ])
      expect(done.status.state).toBe('completed')
    })

    it('gets a stateless message', async () => {
      expect(await client.sendMessage(request([{ reply: 'hi' }]))).toMatchObject({
        kind: 'message',
        role: 'agent',
        parts: [{ kind: 'text', text: 'hi' }],
      })
    })

    it('prints the live text of a step once, also when it prints whatever arrives', async () => {
      const ops = [{ step: 'talk', stream: 'Hello world', chunks: 5, ms: 500 }]
      const texts: string[] = []
      let taskId = ''
      for await (const frame of client.sendMessageStream(request(ops))) {
        if (frame.kind !== 'artifact-update') continue
        taskId = frame.taskId
        for (const part of frame.artifact.parts) if (part.kind === 'text') texts.push(part.text)
      }
      expect(texts.length).toBeGreaterThan(1)
      expect(texts.join('')).toBe('Hello world')
      expect((await client.getTask({ id: taskId })).artifacts).toMatchObject([
        { name: 'talk', parts: [{ kind: 'text', text: 'Hello world' }] },
      ])
    })

    it('streams to the end', async () => {
      const ops = [
        { say: 'a' },
        { artifact: { name: 'x', text: 'abc', chunks: 2 } },
        { complete: 'b' },
      ]
      const frames: Event[] = []
      for await (const frame of client.sendMessageStream(request(ops))) frames.push(frame)
      expect(frames.map((frame) => frame.kind)).toEqual([
        'task',
        'status-update',
        'artifact-update',
        'artifact-update',
        // What the agent returned, also as an artifact.
        'artifact-update',
        'status-update',
      ])
      expect(frames.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } })
    })

    it('gets and cancels', async () => {
      const { id } = await send([{ step: 'long', ms: 60_000 }], {}, { blocking: false })
      expect(await client.getTask({ id })).toMatchObject({ id, status: { state: 'working' } })
      expect(await client.cancelTask({ id })).toMatchObject({ status: { state: 'canceled' } })
      await expect(client.getTask({ id: 'nope' })).rejects.toThrow()
    })

    it('goes through several turns, and consent', async () => {
      const task = await send([{ ask: 'Which?' }, { consent: { prompt: 'Sure?', operation: 1 } }])
      expect(task.status.state).toBe('input-required')
      const asked = await send('this', { taskId: task.id })
      expect(asked.status.state).toBe('input-required')
      const consent = asked.metadata?.['urn:lull:a2a:user-consent:1'] as { consentId: string }
      const { consentId } = consent
      const parts = [{ kind: 'data', data: { consentId, decision: 'granted' } }]
      const done = await send('', { taskId: task.id, parts })
      expect(done.status.state).toBe('completed')
    })

    it('streams through a pause and a park and ends normally', async () => {
      const ops = [
        { step: 'first', ms: UNTIL_PAUSED },
        { park: { reason: 'waiting', conditions: { onEvent: 'go' } } },
        { complete: 'done' },
      ]
      const states: string[] = []
      for await (const frame of client.sendMessageStream(request(ops)) as AsyncIterable<Event>) {
        if ('status' in frame) states.push(frame.status.state)
        if (frame.kind !== 'task') continue
        const taskId = (frame as Task).id
        await harness.pause(taskId, 'review')
        await harness.control('tasks/resume', { taskId })
        await eventually(
          async () => (await harness.engine.get(caller, taskId)).state === 'paused-by-agent',
        )
        await harness.engine.emit(caller, [{ id: taskId, source: 'test', type: 'go' } as never])
      }
      expect(states).toEqual([
        'working',
        // The pause waits for the running step.
        'working',
        // Paused: the card leads to the address with core states.
        'working',
        'working',
        'working',
        'working',
        'completed',
      ])
    })

    it('streams through reminders that come, go and are shown, and ends normally', async () => {
      const ops = [{ park: { reason: 'waiting' } }, { turn: [{ say: 'on' }] }, { complete: 'done' }]
      const frames: Event[] = []
      for await (const frame of client.sendMessageStream(request(ops)) as AsyncIterable<Event>) {
        frames.push(frame)
        if (frame.kind !== 'task') continue
        const taskId = (frame as Task).id
        await eventually(
          async () => (await harness.engine.get(caller, taskId)).state === 'paused-by-agent',
        )
        const reminder = { body: 'look up', dedupeKey: 'k', ttlTurns: 1 }
        for (const body of ['look up', 'look down']) {
          await harness.control('tasks/inject_reminder', {
            taskId,
            reminder: { ...reminder, body },
          })
        }
        await harness.control('tasks/resume', { taskId })
      }
      expect(frames.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } })
      const known = ['task', 'status-update', 'artifact-update']
      expect(frames.filter(({ kind }) => !known.includes(kind))).toEqual([])
      expect(JSON.stringify(frames)).toContain('look down')
    })

    it('subscribes again', async () => {
      const task = await send([{ ask: 'Go on?' }, { complete: 'yes' }])
      const frames: Event[] = []
      for await (const frame of client.resubscribeTask({ id: task.id })) {
        frames.push(frame)
        if (frames.length === 1) await send('go', { taskId: task.id })
      }
      expect(frames[0]?.kind).toBe('task')
      expect(frames.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } })
    })

    it('sets, gets, lists and deletes webhooks, which are sent whole tasks', async () => {
      const { id: taskId } = await send([{ ask: 'Go?' }, { complete: 'yes' }])
      const config = {
        taskId,
        pushNotificationConfig: {
          url: harness.hook.url,
          token: 'secret',
          authentication: { schemes: ['Bearer'], credentials: 'abc' },
        },
      }
      const made = await client.setTaskPushNotificationConfig(config)
      expect(made).toMatchObject({ taskId, pushNotificationConfig: { url: harness.hook.url } })
      const pushNotificationConfigId = made.pushNotificationConfig.id ?? ''
      const found = await client.getTaskPushNotificationConfig({
        id: taskId,
        pushNotificationConfigId,
      } as never)
      expect(found).toEqual(made)
      expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([made])
      await send('go', { taskId })
      const mine = () => harness.hook.received.filter(({ body }) => body.id === taskId)
      await eventually(() => mine().at(-1)?.body.status.state === 'completed')
      expect(mine().at(-1)).toMatchObject({
        headers: { 'x-a2a-notification-token': 'secret', authorization: 'Bearer abc' },
        body: { kind: 'task' },
      })
      await client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId })
      expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([])
    })
  },
)
