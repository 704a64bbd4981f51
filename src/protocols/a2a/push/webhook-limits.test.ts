import { describe, expect, it } from 'vitest'
import type { A2AConfig } from '../config.ts'
import { openTestServer, scripted } from '../test-support/test-server.ts'

const post = async (): Promise<void> => undefined
const url = 'https://example.com/hook'

async function pausedTask(version: '1.0' | '0.3', config: Partial<A2AConfig> = {}) {
  const testServer = await openTestServer({ a2a: { post, config } })
  const message = scripted('1.0', [{ ask: 'what?' }])
  const { task } = await testServer.ok('1.0', 'SendMessage', { message })
  return { testServer, taskId: task.id as string, version }
}

describe('webhooks of a task', () => {
  it('are at most 16, however they are added', async () => {
    const { testServer, taskId } = await pausedTask('1.0')
    const create = 'CreateTaskPushNotificationConfig'
    for (let n = 0; n < 16; n++) await testServer.ok('1.0', create, { taskId, id: `${n}`, url })
    const more = await testServer.rpc('1.0', create, { taskId, id: 'more', url })
    expect(more.error.message).toContain('webhooksPerTask')
    const message = { ...scripted('1.0', []), taskId }
    const configuration = { taskPushNotificationConfig: { id: 'more', url } }
    const sent = await testServer.rpc('1.0', 'SendMessage', { message, configuration })
    expect(sent.error.message).toContain('webhooksPerTask')
    // Changing one that is there adds nothing.
    await testServer.ok('1.0', create, { taskId, id: '7', url })
    const { configs } = await testServer.ok('1.0', 'ListTaskPushNotificationConfigs', { taskId })
    expect(configs).toHaveLength(16)
  })

  it('are at most 16, also when many are added at once', async () => {
    const { testServer, taskId } = await pausedTask('1.0')
    const create = 'CreateTaskPushNotificationConfig'
    const ids = Array.from({ length: 30 }, (_, n) => `${n}`)
    await Promise.all(ids.map((id) => testServer.rpc('1.0', create, { taskId, id, url })))
    const { configs } = await testServer.ok('1.0', 'ListTaskPushNotificationConfigs', { taskId })
    expect(configs).toHaveLength(16)
  })

  it('of a principal are limited together, and one that has ended makes room', async () => {
    const { testServer, taskId } = await pausedTask('1.0', { webhooks: 3 })
    const create = 'CreateTaskPushNotificationConfig'
    const added = (id: string) => testServer.rpc('1.0', create, { taskId, id, url })
    for (const id of ['a', 'b']) expect((await added(id)).error).toBeUndefined()
    const message = scripted('1.0', [{ ask: 'what?' }])
    const configuration = { taskPushNotificationConfig: { id: 'c', url } }
    const other = await testServer.ok('1.0', 'SendMessage', { message, configuration })
    expect((await added('d')).error?.message).toContain('webhooks of the principal (3)')
    const refused = await testServer.rpc('1.0', 'SendMessage', {
      message: scripted('1.0', [{ ask: 'what?' }]),
      configuration,
    })
    expect(refused.error.message).toContain('webhooks of the principal (3)')
    // One that is there is changed, and one that is deleted makes room.
    expect((await added('a')).error).toBeUndefined()
    const config = { taskId: other.task.id, id: 'c' }
    await testServer.ok('1.0', 'DeleteTaskPushNotificationConfig', config)
    expect((await added('d')).error).toBeUndefined()
  })

  it('of a principal are limited also when they come with many messages at once', async () => {
    const testServer = await openTestServer({ a2a: { post, config: { webhooks: 3 } } })
    const send = (id: string) =>
      testServer.rpc('1.0', 'SendMessage', {
        message: scripted('1.0', [{ ask: 'what?' }]),
        configuration: { taskPushNotificationConfig: { id, url } },
      })
    const ids = Array.from({ length: 30 }, (_, n) => `${n}`)
    const answers = await Promise.all(ids.map(send))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(3)
    expect((await send('more')).error.message).toContain('webhooks of the principal (3)')
  })

  it('keep their token and credentials to themselves, in both versions', async () => {
    const { testServer, taskId } = await pausedTask('1.0')
    const authentication = { scheme: 'Bearer', credentials: 'secret-1' }
    const config = { taskId, id: 'a', url, token: 'secret-2', authentication }
    const answers = [
      await testServer.ok('1.0', 'CreateTaskPushNotificationConfig', config),
      await testServer.ok('1.0', 'GetTaskPushNotificationConfig', { taskId, id: 'a' }),
      await testServer.ok('1.0', 'ListTaskPushNotificationConfigs', { taskId }),
      await testServer.ok('0.3', 'tasks/pushNotificationConfig/get', { id: taskId }),
      await testServer.ok('0.3', 'tasks/pushNotificationConfig/list', { id: taskId }),
    ]
    for (const answer of answers) {
      expect(JSON.stringify(answer)).toContain('Bearer')
      expect(JSON.stringify(answer)).not.toContain('secret')
    }
  })
})
