/** A2A 1.0 over gRPC, on the port of HTTP, with the client of another project. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, startServer } from '../serve.ts'
import {
  fromStruct,
  type GrpcClient,
  type Loose,
  openGrpcClient,
  toJsonName,
  toJsonNames,
  toValue,
} from './test-support/grpc-client.ts'

let data: string
let server: RunningServer
let a2a: GrpcClient
let control: GrpcClient

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-grpc-'))
  const agents = [
    createScriptAgent(),
    agent({ name: 'echo', description: 'Repeats', run: (task) => task.text }),
  ]
  server = await startServer({ agents, port: 0, data, store: 'memory', log: () => undefined })
  a2a = openGrpcClient(`127.0.0.1:${server.port}`, 'lf.a2a.v1.A2AService')
  control = openGrpcClient(`127.0.0.1:${server.port}`, 'lull.a2a.v1.TaskControl')
})
afterAll(async () => {
  a2a.close()
  control.close()
  await server.close()
  rmSync(data, { recursive: true })
})

let count = 0

const message = (script: unknown, more: object = {}) => ({
  messageId: `m${++count}`,
  role: 'ROLE_USER',
  parts: [typeof script === 'string' ? { text: script } : { data: toValue({ script }) }],
  ...more,
})

async function started(script: unknown): Promise<Loose> {
  const configuration = { returnImmediately: true }
  return (await a2a.call('SendMessage', { message: message(script), configuration })).task
}

const CONTROL = 'urn:lull:a2a:task-control:1'

it('sends, and gets what HTTP/1.1 on the same port gets', async () => {
  const { task } = await a2a.call('SendMessage', { message: message('hello') })
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  const got = await a2a.call('GetTask', { id: task.id })
  expect(got.history[0].parts[0].text).toBe('hello')
  const response = await fetch(`${server.url}/tasks/${task.id}`)
  expect(((await response.json()) as Loose).id).toBe(task.id)
})

it('lists, pages and filters', async () => {
  const { contextId } = await started('one')
  await a2a.call('SendMessage', { message: message('two', { contextId }) })
  const first = await a2a.call('ListTasks', { contextId, pageSize: 1 })
  expect(first).toMatchObject({ totalSize: 2, pageSize: 1 })
  const second = await a2a.call('ListTasks', { contextId, pageToken: first.nextPageToken })
  expect(second.tasks).toHaveLength(1)
  const since = { seconds: 4_000_000_000 }
  expect((await a2a.call('ListTasks', { contextId, statusTimestampAfter: since })).tasks).toEqual(
    [],
  )
})

it('streams a task to its end', async () => {
  const frames = await a2a.frames('SendStreamingMessage', {
    message: message([
      { step: 'one' },
      { artifact: { name: 'a', text: 'hi' } },
      { complete: 'done' },
    ]),
  })
  expect(frames[0].payload).toBe('task')
  expect(frames.map(({ payload }) => payload)).toContain('artifact_update')
  expect(frames.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
})

it('continues a stream after the cursor of a frame, without repeating or losing one', async () => {
  const options = { metadata: { 'a2a-extensions': 'urn:lull:a2a:cursor:1' } }
  const request = {
    message: message([
      { step: 'one' },
      { artifact: { name: 'a', text: 'hi' } },
      { complete: 'done' },
    ]),
  }
  const frames = await a2a.frames('SendStreamingMessage', request, options)
  const idOf = (frame: Loose): string =>
    fromStruct(frame[toJsonName(frame.payload)].metadata)['urn:lull:a2a:cursor:1'].id
  const ids = frames.map(idOf)
  expect(new Set(ids).size).toBe(ids.length)
  const rest = await a2a.frames(
    'SubscribeToTask',
    { id: frames[0].task.id },
    { metadata: { ...options.metadata, 'last-event-id': ids[1] ?? '' } },
  )
  expect(rest.map(idOf)).toEqual(ids.slice(2))
})

it('pauses and resumes, and shows both to a stream', async () => {
  const task = await started([{ step: 'one', ms: 100_000 }, { complete: 'done' }])
  const stream = a2a.stream('SubscribeToTask', { id: task.id })
  const frames: Loose[] = []
  stream.on('data', (frame) => frames.push(toJsonNames(frame)))
  const ended = new Promise((resolve) => stream.on('end', resolve))
  const paused = await control.call('pause', {
    taskId: task.id,
    mode: 'interrupt_immediate',
    reason: 'review',
  })
  expect(paused).toMatchObject({ state: 'paused-by-client', reason: 'review' })
  const again = await control.call('pause', { taskId: task.id })
  expect(again.handle).toBe(paused.handle)
  const stateOf = ({ metadata }: Loose) => fromStruct(metadata)[CONTROL]?.state
  expect(stateOf(await a2a.call('GetTask', { id: task.id }))).toBe('paused-by-client')
  const resumed = await control.call('resume', { taskId: task.id, handle: paused.handle })
  expect(resumed).toMatchObject({ cause: 'explicit_resume', previousState: 'paused-by-client' })
  await a2a.call('CancelTask', { id: task.id })
  await ended
  const shown = frames.flatMap((frame) =>
    frame.statusUpdate?.metadata ? [stateOf(frame.statusUpdate)] : [],
  )
  expect(shown).toContain('paused-by-client')
  expect(shown).toContain('active')
})

it('injects, lists and clears reminders', async () => {
  const task = await started([{ park: { reason: 'wait' } }])
  const reminder = { body: 'mind the gap', dedupeKey: 'gap' }
  const injected = await control.call('injectReminder', { taskId: task.id, reminder })
  expect(injected.reminderId).toBeTruthy()
  const { reminders } = await control.call('listReminders', { taskId: task.id })
  expect(reminders).toMatchObject([{ body: 'mind the gap', propagate: 'session' }])
  expect(await control.call('clearReminders', { taskId: task.id, dedupeKey: 'gap' })).toMatchObject(
    { clearedCount: 1 },
  )
})

it('lists receipts of a stop', async () => {
  const task = await started([{ park: { reason: 'wait' } }])
  await expect
    .poll(async () => (await control.call('listReceipts', { taskId: task.id })).receipts.length)
    .toBe(1)
  expect(await control.call('listReceipts', { taskId: task.id })).toMatchObject({ verified: true })
})

it('grants consent by the metadata of the extension', async () => {
  const { task } = await a2a.call('SendMessage', {
    message: message([
      { consent: { prompt: 'Delete?', operation: { file: 'a' } } },
      { complete: 'deleted' },
    ]),
  })
  expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
  const { consentId } = fromStruct(task.metadata)['urn:lull:a2a:user-consent:1']
  const answer = { parts: [{ data: toValue({ consentId, decision: 'granted' }) }], taskId: task.id }
  const done = await a2a.call('SendMessage', { message: message('', answer) })
  expect(done.task.status.state).toBe('TASK_STATE_COMPLETED')
})

it('selects another agent, and a tenant, by the tenant of the interface', async () => {
  const card = (await (
    await fetch(`${server.url}/agents/echo/.well-known/agent-card.json`, {
      headers: { 'a2a-version': '1.0' },
    })
  ).json()) as Loose
  const found = card.supportedInterfaces.find((one: Loose) => one.protocolBinding === 'GRPC')
  expect(found).toEqual({
    url: `127.0.0.1:${server.port}`,
    protocolBinding: 'GRPC',
    protocolVersion: '1.0',
    tenant: 'agents/echo',
  })
  const { task } = await a2a.call('SendMessage', {
    tenant: found.tenant,
    message: message('again'),
  })
  expect(task.status.message.parts[0].text).toBe('again')
  expect((await a2a.call('GetTask', { tenant: found.tenant, id: task.id })).id).toBe(task.id)
  await expect(a2a.call('GetTask', { tenant: 'agents/script', id: task.id })).rejects.toMatchObject(
    { code: status.NOT_FOUND },
  )
  await expect(
    a2a.call('GetTask', { tenant: 'agents/echo/acme', id: task.id }),
  ).rejects.toMatchObject({ code: status.NOT_FOUND })
  await expect(a2a.call('GetTask', { tenant: 'agents/nobody', id: task.id })).rejects.toMatchObject(
    { code: status.UNIMPLEMENTED },
  )
})

describe('errors', () => {
  const detailsOf = (error: Loose): Loose => {
    const [bytes] = error.metadata.get('grpc-status-details-bin')
    return bytes.toString('latin1')
  }

  it.each([
    ['NOT_FOUND', 'GetTask', { id: 'nope' }, {}, ['TASK_NOT_FOUND', 'a2a-protocol.org', 'nope']],
    [
      'INVALID_ARGUMENT',
      'GetTask',
      {},
      {},
      ['INVALID_PARAMS', 'google.rpc.BadRequest', 'is required'],
    ],
    ['INVALID_ARGUMENT', 'SendMessage', {}, {}, ['message']],
    [
      'FAILED_PRECONDITION',
      'GetTask',
      { id: 'x' },
      { 'a2a-version': '9.0' },
      ['VERSION_NOT_SUPPORTED'],
    ],
    [
      'FAILED_PRECONDITION',
      'GetTask',
      { id: 'x' },
      { 'a2a-version': '0.3' },
      ['VERSION_NOT_SUPPORTED'],
    ],
    ['FAILED_PRECONDITION', 'GetExtendedAgentCard', {}, {}, ['UNSUPPORTED_OPERATION']],
  ] as const)('%s for %s %j', async (code, method, request, metadata, texts) => {
    const error: Loose = await a2a.call(method, request, { metadata }).catch((one) => one)
    expect(error.code).toBe(status[code])
    for (const text of texts) expect(detailsOf(error)).toContain(text)
  })

  it('of the extensions carry their own domain', async () => {
    const { task } = await a2a.call('SendMessage', { message: message('x') })
    const error: Loose = await control.call('pause', { taskId: task.id }).catch((one) => one)
    expect(error.code).toBe(status.FAILED_PRECONDITION)
    expect(detailsOf(error)).toContain('TASK_NOT_PAUSABLE')
    expect(detailsOf(error)).toContain('lull')
  })

  it('end a stream that was refused', async () => {
    await expect(a2a.frames('SubscribeToTask', { id: 'nope' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    })
  })
})

it('answers the extensions that a call activated', async () => {
  const stream = a2a.stream(
    'SendStreamingMessage',
    { message: message('x') },
    { metadata: { 'a2a-extensions': `${CONTROL},urn:other:1` } },
  )
  const headers = await new Promise<Loose>((resolve) => stream.on('metadata', resolve))
  stream.on('data', () => undefined)
  expect(headers.get('a2a-extensions')).toEqual([CONTROL])
})

it('ends a blocking send at its deadline, and the task goes on', async () => {
  const contextId = `deadline-${count}`
  const sending = a2a.call(
    'SendMessage',
    { message: message([{ park: { reason: 'wait' } }], { contextId }) },
    { deadlineMs: 300 },
  )
  await expect(sending).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED })
  const { tasks } = await a2a.call('ListTasks', { contextId })
  expect(tasks[0].status.state).toBe('TASK_STATE_WORKING')
})

it('lets a stream that is cancelled go, and the task goes on', async () => {
  const task = await started([{ park: { reason: 'wait' } }])
  const stream = a2a.stream('SubscribeToTask', { id: task.id })
  await new Promise((resolve) => stream.once('data', resolve))
  expect((await server.engine.health()).subscribers).toBe(1)
  stream.on('error', () => undefined)
  stream.cancel()
  await expect.poll(async () => (await server.engine.health()).subscribers).toBe(0)
  expect((await a2a.call('GetTask', { id: task.id })).status.state).toBe('TASK_STATE_WORKING')
})

it('has the push configs of HTTP', async () => {
  const { id: taskId } = await started([{ park: { reason: 'wait' } }])
  const url = 'https://example.com/hook'
  const made = await a2a.call('CreateTaskPushNotificationConfig', {
    taskId,
    id: 'a',
    url,
    token: 't',
  })
  expect(made).toMatchObject({ taskId, id: 'a', url })
  expect((await a2a.call('ListTaskPushNotificationConfigs', { taskId })).configs).toHaveLength(1)
  await a2a.call('DeleteTaskPushNotificationConfig', { taskId, id: 'a' })
  expect((await a2a.call('ListTaskPushNotificationConfigs', { taskId })).configs).toHaveLength(0)
})

it('says whether it serves', async () => {
  const health = openGrpcClient(`127.0.0.1:${server.port}`, 'grpc.health.v1.Health')
  expect(await health.call('check', {})).toEqual({ status: 'SERVING' })
  expect(await health.call('check', { service: 'lf.a2a.v1.A2AService' })).toEqual({
    status: 'SERVING',
  })
  await expect(health.call('check', { service: 'nope' })).rejects.toMatchObject({
    code: status.NOT_FOUND,
  })
  const watch = health.stream('watch', { service: 'nope' })
  watch.on('error', () => undefined)
  expect(await new Promise((resolve) => watch.once('data', resolve))).toEqual({
    status: 'SERVICE_UNKNOWN',
  })
  health.close()
})

it('describes every service by reflection', async () => {
  for (const version of ['v1', 'v1alpha']) {
    const reflection = openGrpcClient(
      `127.0.0.1:${server.port}`,
      `grpc.reflection.${version}.ServerReflection`,
    )
    const call = (reflection.stream as Loose)('serverReflectionInfo')
    const ask = (request: object): Promise<Loose> =>
      new Promise((resolve) => {
        call.once('data', (answer: Loose) => resolve(toJsonNames(answer)))
        call.write(request)
      })
    const { listServicesResponse } = await ask({ list_services: '*' })
    const names = listServicesResponse.service.map(({ name }: Loose) => name)
    expect(names).toContain('lf.a2a.v1.A2AService')
    for (const name of names) {
      const { fileDescriptorResponse } = await ask({ file_containing_symbol: name })
      expect(fileDescriptorResponse.fileDescriptorProto.length).toBeGreaterThan(0)
    }
    expect((await ask({ file_containing_symbol: 'nope.Nope' })).errorResponse.errorCode).toBe(
      status.NOT_FOUND,
    )
    call.end()
    reflection.close()
  }
})
