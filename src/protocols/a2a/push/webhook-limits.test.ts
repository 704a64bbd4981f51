import { describe, expect, it } from 'vitest'
import { openTestServer, scripted } from '../test-support/test-server.ts'

const post = async (): Promise<void> => undefined
const url = 'https://example.com/hook'

async function pausedTask(version: '1.0' | '0.3') {
  const testServer = await openTestServer({ a2a: { post } })
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
