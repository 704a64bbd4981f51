/**
 * Official clients that know nothing of pausing, of both generations and on both of their HTTP transports: whatever stops
 * the task meanwhile, their streams go on and end as those of any task do.
 */

import { Role, type StreamResponse, type Task as TaskV1, taskStateToJSON } from 'a2a-js-v1'
import { ClientFactory as FactoryV1, ClientFactoryOptions as OptionsV1 } from 'a2a-js-v1/client'
import type { Message as MessageV03, TaskStatusUpdateEvent, Task as TaskV03 } from 'a2a-js-v03'
import {
  ClientFactory as FactoryV03,
  JsonRpcTransportFactory,
  ClientFactoryOptions as OptionsV03,
  RestTransportFactory,
} from 'a2a-js-v03/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, eventually, type Harness, openHarness, UNTIL_PAUSED } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

/** A status as the client saw it, in the words of 0.3. */
interface Seen {
  readonly taskId: string
  readonly state: string
}

interface Unaware {
  stream(ops: readonly object[]): AsyncIterable<Seen>
  subscribe(taskId: string): AsyncIterable<Seen>
  /** Blocking, as by default. */
  send(ops: readonly object[]): Promise<Seen>
}

let count = 0

async function* seenV1(frames: AsyncIterable<StreamResponse>): AsyncGenerator<Seen> {
  for await (const { payload } of frames) {
    if (payload?.$case === 'task') yield ofV1(payload.value.id, payload.value.status)
    if (payload?.$case === 'statusUpdate') yield ofV1(payload.value.taskId, payload.value.status)
  }
}

function ofV1(taskId: string, status: TaskV1['status']): Seen {
  const state = status === undefined ? '' : taskStateToJSON(status.state)
  return { taskId, state: state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-') }
}

async function unawareV1(transport: string): Promise<Unaware> {
  const options = OptionsV1.createFrom(OptionsV1.default, {
    preferredTransports: [transport],
  } as never)
  const client = await new FactoryV1(options).createFromUrl(harness.url)
  const request = (ops: readonly object[]): never => {
    const content = { $case: 'data', value: { script: ops } }
    const part = { content, metadata: undefined, filename: '', mediaType: '' }
    const message = {
      messageId: `v1-${++count}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    }
    return { tenant: '', message, configuration: undefined, metadata: undefined } as never
  }
  return {
    stream: (ops) => seenV1(client.sendMessageStream(request(ops))),
    subscribe: (id) => seenV1(client.resubscribeTask({ tenant: '', id } as never)),
    async send(ops) {
      const { id, status } = (await client.sendMessage(request(ops))) as TaskV1
      return ofV1(id, status)
    },
  }
}

type FrameV03 = MessageV03 | TaskV03 | TaskStatusUpdateEvent | { readonly kind: string }

async function* seenV03(frames: AsyncIterable<FrameV03>): AsyncGenerator<Seen> {
  for await (const frame of frames) {
    if (!('status' in frame)) continue
    const taskId = frame.kind === 'task' ? frame.id : frame.taskId
    yield { taskId, state: frame.status.state }
  }
}

async function unawareV03(transport: string): Promise<Unaware> {
  const options = OptionsV03.createFrom(OptionsV03.default, {
    transports: [
      transport === 'JSONRPC' ? new JsonRpcTransportFactory() : new RestTransportFactory(),
    ],
    preferredTransports: [transport],
  })
  const client = await new FactoryV03(options).createFromUrl(harness.url)
  const request = (ops: readonly object[]): never => {
    const parts = [{ kind: 'data', data: { script: ops } }]
    return {
      message: { kind: 'message', messageId: `v03-${++count}`, role: 'user', parts },
    } as never
  }
  return {
    stream: (ops) => seenV03(client.sendMessageStream(request(ops))),
    subscribe: (id) => seenV03(client.resubscribeTask({ id })),
    async send(ops) {
      const { id, status } = (await client.sendMessage(request(ops))) as TaskV03
      return { taskId: id, state: status.state }
    },
  }
}

const until = (taskId: string, state: string) =>
  eventually(async () => (await harness.engine.get(caller, taskId)).state === state)

const emit = (taskId: string, type: string) =>
  harness.engine.emit(caller, [{ id: `${taskId}-${type}`, source: 'test', type } as never])

const go = (): string => `go-${++count}`

/** A pause and its resume, a park and its resume, a park and its event. */
function eventful(event: string): readonly object[] {
  return [
    { step: 'first', ms: UNTIL_PAUSED },
    { park: { reason: 'until somebody says so' } },
    { say: 'half way' },
    { park: { reason: 'until it happens', conditions: { onEvent: event } } },
    { complete: 'done' },
  ]
}

async function direct(taskId: string, event: string): Promise<void> {
  await harness.pause(taskId, 'review')
  await harness.control('tasks/resume', { taskId })
  await until(taskId, 'paused-by-agent')
  await harness.control('tasks/resume', { taskId, input: 'go on' })
  await eventually(async () => (await harness.engine.get(caller, taskId)).epoch === 3)
  await emit(taskId, event)
}

/** The states a client saw, to the end of its stream, while the task was directed from its first frame on. */
async function watched(
  frames: AsyncIterable<Seen>,
  directing: (taskId: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const states: string[] = []
  let directed: Promise<unknown> | undefined
  for await (const { taskId, state } of frames) {
    directed ??= directing(taskId)
    states.push(state)
  }
  await directed
  return states
}

describe.each([
  ['0.3.13', 'JSONRPC', unawareV03, { client: 'working', agent: 'working' }],
  ['0.3.13', 'HTTP+JSON', unawareV03, { client: 'working', agent: 'working' }],
  ['1.3.0', 'JSONRPC', unawareV1, { client: 'working', agent: 'working' }],
  ['1.3.0', 'HTTP+JSON', unawareV1, { client: 'working', agent: 'working' }],
] as const)('the official %s client over %s', (_version, transport, make, paused) => {
  let client: Unaware
  beforeAll(async () => {
    client = await make(transport)
  })

  const throughIt = [
    // The pause waits for the running step.
    'working',
    paused.client,
    'working',
    paused.agent,
    'working',
    // Half way, it said so.
    'working',
    paused.agent,
    'working',
    'completed',
  ]

  it('streams through a pause, two parks, a resume and an event, to the end', async () => {
    const event = go()
    const states = await watched(client.stream(eventful(event)), (id) => direct(id, event))
    expect(states).toEqual(['working', ...throughIt])
  })

  it('subscribes to a task that was there already, and sees the same', async () => {
    const event = go()
    const { taskId } = await client.send([{ ask: 'Ready?' }, ...eventful(event)])
    const states = await watched(client.subscribe(taskId), async () => {
      await answer(taskId)
      await direct(taskId, event)
    })
    expect(states).toEqual(['input-required', 'working', ...throughIt])
  })

  it('subscribes to a task that is paused, and sees it go on', async () => {
    const ops = [{ ask: 'Ready?' }, { park: { reason: 'waiting' } }, { complete: 'woken' }]
    const { taskId } = await client.send(ops)
    await answer(taskId)
    await until(taskId, 'paused-by-agent')
    const states = await watched(client.subscribe(taskId), () =>
      harness.control('tasks/resume', { taskId }),
    )
    expect(states).toEqual([paused.agent, 'working', 'completed'])
  })

  it('sees the end of a task that is canceled while it is paused', async () => {
    const states = await watched(client.stream(eventful(go())), async (taskId) => {
      await harness.pause(taskId, 'review')
      await harness.control('CancelTask', { id: taskId })
    })
    expect(states).toEqual(['working', 'working', paused.client, 'canceled'])
  })

  it('sees the end of a task that failed because nobody woke it in time', async () => {
    const timeout = { durationMinutes: 0.001, onTimeout: 'fail' }
    const ops = [{ park: { reason: 'approval', conditions: { timeout } } }]
    const states = await watched(client.stream(ops), () => Promise.resolve())
    expect(states).toEqual(['working', paused.agent, 'failed'])
  })

  it('waits for the end when it sends and waits', async () => {
    const reason = go()
    const sent = client.send([{ park: { reason } }, { complete: 'done' }])
    const taskId = await parkedFor(reason)
    await harness.control('tasks/resume', { taskId })
    expect((await sent).state).toBe('completed')
  })
})

async function answer(taskId: string): Promise<void> {
  const parts = [{ text: 'yes' }]
  const message = { messageId: `yes-${++count}`, taskId, role: 'ROLE_USER', parts } as never
  await harness.engine.send(caller, { message })
}

async function parkedFor(reason: string): Promise<string> {
  let found: string | undefined
  await eventually(async () => {
    const { tasks } = await harness.engine.list(caller, { states: ['paused-by-agent'] })
    found = tasks.find(({ suspension }) => suspension?.reason === reason)?.id
    return found !== undefined
  })
  return found ?? ''
}
