/** The unmodified official client, 1.3.0, on its three transports, against our server. */

import { Role, type StreamResponse, type Task, TaskState } from 'a2a-js-v1'
import { type Client, ClientFactory, ClientFactoryOptions } from 'a2a-js-v1/client'
import { GrpcTransportFactory } from 'a2a-js-v1/client/grpc'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, type Harness, openHarness, UNTIL_PAUSED } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

let count = 0

function message(value: unknown, some: object = {}): never {
  const content =
    typeof value === 'string'
      ? { $case: 'text', value }
      : { $case: 'data', value: { script: value } }
  return {
    messageId: `message-${++count}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...some,
  } as never
}

function request(value: unknown, some: object = {}, configuration?: object): never {
  return { tenant: '', message: message(value, some), configuration, metadata: undefined } as never
}

async function all(stream: AsyncGenerator<StreamResponse>): Promise<StreamResponse[]> {
  const found: StreamResponse[] = []
  for await (const one of stream) found.push(one)
  return found
}

const kinds = (frames: readonly StreamResponse[]) => frames.map((frame) => frame.payload?.$case)
const lastState = (frames: readonly StreamResponse[]) => {
  const last = frames.at(-1)?.payload
  return last?.$case === 'statusUpdate' ? last.value.status?.state : undefined
}

it('finds an agent by its URL, with the slash that Lull prints and, where there is one agent, without', async () => {
  for (const url of [`${harness.url}/agents/script/`, `${harness.url}/agents/script`]) {
    const client = await new ClientFactory().createFromUrl(url)
    expect(((await client.sendMessage(request('hello'))) as Task).status?.state).toBe(
      TaskState.TASK_STATE_COMPLETED,
    )
  }
})

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'])(
  'the official 1.3.0 client over %s',
  (transport) => {
    let client: Client
    beforeAll(async () => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        preferredTransports: [transport],
        transports: [
          ...(ClientFactoryOptions.default.transports ?? []),
          new GrpcTransportFactory(),
        ],
      } as never)
      client = await new ClientFactory(options).createFromUrl(harness.url)
      expect(client.protocolVersion).toBe('1.0')
    })

    const send = (value: unknown, some?: object, configuration?: object) =>
      client.sendMessage(request(value, some, configuration)) as Promise<Task>

    it('sends and gets the ended task', async () => {
      const task = await send('hello')
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
      expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'hello' })
    })

    it('gets what the agent returned as one artifact, the same one however it asks', async () => {
      const sent = await send([{ complete: 'it is done' }])
      expect(sent.artifacts).toMatchObject([
        { name: 'result', parts: [{ content: { $case: 'text', value: 'it is done' } }] },
      ])
      const got = await client.getTask({ tenant: '', id: sent.id } as never)
      expect(got.artifacts).toEqual(sent.artifacts)
      const frames = await all(client.sendMessageStream(request([{ complete: 'it is done' }])))
      const updates = frames.flatMap(({ payload }) =>
        payload?.$case === 'artifactUpdate' ? [payload.value] : [],
      )
      const taskId = updates[0]?.taskId
      const { artifacts } = await client.getTask({ tenant: '', id: taskId } as never)
      expect(updates.map(({ artifact }) => artifact)).toEqual(artifacts)
      expect(updates).toMatchObject([{ append: false, lastChunk: true }])
    })

    it('gets a stateless message', async () => {
      const reply = (await client.sendMessage(request([{ reply: 'hi' }]))) as { messageId: string }
      expect(reply.messageId).toBeTruthy()
    })

    it('streams to the end', async () => {
      const ops = [
        { say: 'a' },
        { artifact: { name: 'x', text: 'abc', chunks: 3 } },
        { complete: 'b' },
      ]
      const frames = await all(client.sendMessageStream(request(ops)))
      expect(kinds(frames)).toEqual([
        'task',
        'statusUpdate',
        'artifactUpdate',
        'artifactUpdate',
        'artifactUpdate',
        // What the agent returned, also as an artifact.
        'artifactUpdate',
        'statusUpdate',
      ])
      expect(lastState(frames)).toBe(TaskState.TASK_STATE_COMPLETED)
    })

    it('prints the live text of a step once, also when it prints whatever arrives', async () => {
      const ops = [{ step: 'talk', stream: 'Hello world', chunks: 5, ms: 500 }]
      const frames = await all(client.sendMessageStream(request(ops)))
      const updates = frames.flatMap(({ payload }) =>
        payload?.$case === 'artifactUpdate' ? [payload.value] : [],
      )
      const texts = updates.map(({ artifact }) => artifact?.parts[0]?.content?.value)
      expect(texts.join('')).toBe('Hello world')
      expect(updates.length).toBeGreaterThan(1)
      expect(updates.map(({ append }) => append)).toEqual(updates.map((_, index) => index > 0))
      expect(updates.at(-1)?.lastChunk).toBe(true)
      const id = updates[0]?.taskId
      const task = await client.getTask({ tenant: '', id } as never)
      expect(task.artifacts.map(({ parts }) => parts.map((part) => part.content?.value))).toEqual([
        ['Hello world'],
      ])
    })

    it('gets, lists and cancels', async () => {
      const contextId = `context-${transport}`
      const immediate = { returnImmediately: true, acceptedOutputModes: [] }
      const { id } = await send([{ step: 'long', ms: 60_000 }], { contextId }, immediate)
      expect((await client.getTask({ tenant: '', id } as never)).id).toBe(id)
      const page = await client.listTasks({
        tenant: '',
        contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
      } as never)
      expect(page.tasks.map((task) => task.id)).toEqual([id])
      expect(page.totalSize).toBe(1)
      const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined } as never)
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
      await expect(client.getTask({ tenant: '', id: 'nope' } as never)).rejects.toThrow(/not/)
    })

    it('goes through several turns', async () => {
      const task = await send([{ ask: 'Which?' }, { echo: 'input' }])
      expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
      const done = await send('this', { taskId: task.id, contextId: task.contextId })
      expect(done.id).toBe(task.id)
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    })

    it('sees consent as a question of authorisation and answers it in band', async () => {
      const ops = [{ consent: { prompt: 'Book?', operation: { book: 1 } } }, { complete: 'booked' }]
      const task = await send(ops)
      expect(task.status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED)
      const { consentId } = task.metadata?.['urn:lull:a2a:user-consent:1'] ?? {}
      const metadata = { 'urn:lull:a2a:user-consent:1': { consentId, decision: 'granted' } }
      const done = await send('yes', { taskId: task.id, metadata })
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    })

    it('subscribes to a task and sees it end', async () => {
      const immediate = { returnImmediately: true, acceptedOutputModes: [] }
      const { id } = await send([{ ask: 'Go on?' }, { complete: 'yes' }], {}, immediate)
      await eventually(async () => {
        const { status } = await client.getTask({ tenant: '', id } as never)
        return status?.state === TaskState.TASK_STATE_INPUT_REQUIRED
      })
      const frames: StreamResponse[] = []
      for await (const frame of client.resubscribeTask({ tenant: '', id } as never)) {
        frames.push(frame)
        if (frames.length === 1) await send('go', { taskId: id })
      }
      expect(kinds(frames)[0]).toBe('task')
      expect(lastState(frames)).toBe(TaskState.TASK_STATE_COMPLETED)
    })

    it('is unaware of a pause, a resume, a park and a reminder, and its stream ends normally', async () => {
      const ops = [
        { step: 'first', ms: UNTIL_PAUSED },
        { park: { reason: 'waiting', conditions: { onEvent: `go-${transport}` } } },
        { turn: [{ say: 'on' }] },
        { complete: 'done' },
      ]
      const frames: StreamResponse[] = []
      for await (const frame of client.sendMessageStream(request(ops))) {
        frames.push(frame)
        const { payload } = frame
        if (payload?.$case === 'task') {
          const taskId = payload.value.id
          await harness.control('tasks/inject_reminder', { taskId, reminder: { body: 'look up' } })
          await harness.pause(taskId, 'review')
          await harness.control('tasks/resume', { taskId })
          await eventually(async () => {
            const task = await harness.engine.get(
              { tenant: 'default', principal: 'anonymous' },
              taskId,
            )
            return task.state === 'paused-by-agent'
          })
          await harness.engine.emit({ tenant: 'default', principal: 'anonymous' }, [
            { id: taskId, source: 'test', type: `go-${transport}` } as never,
          ])
        }
      }
      expect(lastState(frames)).toBe(TaskState.TASK_STATE_COMPLETED)
      const states = frames.flatMap(({ payload }) =>
        payload?.$case === 'statusUpdate'
          ? [(payload.value.metadata?.['urn:lull:a2a:task-control:1'] as { state?: string })?.state]
          : [],
      )
      expect(states.filter((state) => state !== undefined)).toEqual([
        // The pause waits for the running step.
        'active',
        'paused-by-client',
        'active',
        'paused-by-agent',
        'active',
      ])
    })

    it('sets, gets, lists and deletes webhooks, and they are called in order', async () => {
      const immediate = { returnImmediately: true, acceptedOutputModes: [] }
      const { id } = await send(
        [{ ask: 'Go?' }, { say: 'going' }, { complete: 'yes' }],
        {},
        immediate,
      )
      const config = {
        tenant: '',
        id: 'hook-1',
        taskId: id,
        url: harness.hook.url,
        token: 'secret',
        authentication: { scheme: 'Bearer', credentials: 'abc' },
      }
      const made = await client.createTaskPushNotificationConfig(config)
      expect(made).toMatchObject({ id: 'hook-1', taskId: id, url: harness.hook.url })
      const found = await client.getTaskPushNotificationConfig({
        tenant: '',
        taskId: id,
        id: 'hook-1',
      } as never)
      expect(found.url).toBe(harness.hook.url)
      const page = { tenant: '', pageSize: 0, pageToken: '' }
      const listed = await client.listTaskPushNotificationConfig({ ...page, taskId: id } as never)
      expect(listed.configs.map((one) => one.id)).toEqual(['hook-1'])
      await eventually(async () => {
        const { status } = await client.getTask({ tenant: '', id } as never)
        return status?.state === TaskState.TASK_STATE_INPUT_REQUIRED
      })
      await send('go', { taskId: id })
      const mine = () =>
        harness.hook.received.filter(
          ({ body }) => (body.statusUpdate?.taskId ?? body.task?.id) === id,
        )
      await eventually(
        () => mine().at(-1)?.body.statusUpdate?.status.state === 'TASK_STATE_COMPLETED',
      )
      expect(mine()[0]?.headers).toMatchObject({ authorization: 'Bearer abc' })
      expect(mine().at(-2)?.body.statusUpdate.status.message.parts).toEqual([{ text: 'going' }])
      await client.deleteTaskPushNotificationConfig({
        tenant: '',
        taskId: id,
        id: 'hook-1',
      } as never)
      await client.deleteTaskPushNotificationConfig({
        tenant: '',
        taskId: id,
        id: 'hook-1',
      } as never)
      const after = await client.listTaskPushNotificationConfig({ ...page, taskId: id } as never)
      expect(after.configs).toEqual([])
    })
  },
)
