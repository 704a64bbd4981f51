/** A member of the wrong type is refused with its place. It is never dropped in silence. */
import { describe, expect, it } from 'vitest'
import { openTestServer, textMessage } from './test-support/test-server.ts'

const file = (members: object) => ({ kind: 'file', file: { bytes: 'aGk=', ...members } })
const saying = (message: object, configuration: object = {}) => ({
  message: { ...textMessage('0.3', 'hi'), ...message },
  configuration,
})

describe('a value of the wrong type', () => {
  it.each([
    ['message.kind', saying({ kind: 'task' })],
    ['message.kind', saying({ kind: 7 })],
    ['message.parts.0.file.name', saying({ parts: [file({ name: 7 })] })],
    ['message.parts.0.file.mimeType', saying({ parts: [file({ mimeType: [] })] })],
    ['configuration.acceptedOutputModes', saying({}, { acceptedOutputModes: 'text/plain' })],
    ['configuration.acceptedOutputModes', saying({}, { acceptedOutputModes: [7] })],
  ])('in 0.3 is refused at %s', async (path, params) => {
    const testServer = await openTestServer()
    const { error } = await testServer.rpc('0.3', 'message/send', params)
    expect(error).toMatchObject({ code: -32602, data: { path } })
    expect((await testServer.ok('1.0', 'ListTasks')).totalSize).toBe(0)
  })

  it.each([
    ['configuration.acceptedOutputModes', 'SendMessage', { acceptedOutputModes: 7 }],
    ['configuration.acceptedOutputModes', 'SendStreamingMessage', { acceptedOutputModes: {} }],
  ])('in 1.0 is refused at %s of %s', async (path, method, configuration) => {
    const testServer = await openTestServer()
    const params = { message: textMessage('1.0', 'hi'), configuration }
    const { error } = await testServer.rpc('1.0', method, params)
    expect(error.code).toBe(-32602)
    expect(JSON.stringify(error)).toContain(path)
  })

  it.each([
    ['pageSize', { pageSize: 'x' }],
    ['pageSize', { pageSize: -1 }],
    ['pageToken', { pageToken: 7 }],
  ])('is refused at %s in a list of webhooks', async (path, wrong) => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'hi'),
    })
    const params = { taskId: task.id, ...wrong }
    const { error } = await testServer.rpc('1.0', 'ListTaskPushNotificationConfigs', params)
    expect(error.code).toBe(-32602)
    expect(JSON.stringify(error)).toContain(path)
  })
})

it('the id of a webhook has a longest length', async () => {
  const testServer = await openTestServer()
  const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'hi') })
  const params = { taskId: task.id, url: 'https://example.com/', id: 'x'.repeat(5_000) }
  const { error } = await testServer.rpc('1.0', 'CreateTaskPushNotificationConfig', params)
  expect(error.code).toBe(-32602)
})

it('null is the same as absent in every optional member of a file', async () => {
  const testServer = await openTestServer()
  const parts = [{ kind: 'file', file: { bytes: 'aGk=', uri: null, name: null, mimeType: null } }]
  const task = await testServer.ok('0.3', 'message/send', saying({ kind: null, parts }))
  expect(task.history[0].parts).toEqual([{ kind: 'file', file: { bytes: 'aGk=' } }])
})

it.each([
  ['GET', '/tasks/x:nope'],
  ['POST', '/tasks/x:nope'],
  ['POST', '/message:nope'],
  ['POST', '/acme/tasks/x:nope'],
  ['POST', '/agents/script/tasks/x:nope'],
  ['POST', '/v1/tasks/x:nope'],
  ['POST', '/core/v1/message:nope'],
])('an action that does not exist is refused in the words of A2A: %s %s', async (verb, path) => {
  const testServer = await openTestServer()
  const response = await testServer.fetch(verb, path, verb === 'POST' ? '{}' : undefined)
  expect(response.status).toBe(404)
  const { error } = (await response.json()) as { error: { code: number; message: string } }
  expect(error.code).toEqual(expect.any(Number))
  expect(error.message).toContain('nope')
})
