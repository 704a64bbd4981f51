/** Answers and refusals at a limit, as clients of each binding see them. */
import { describe, expect, it } from 'vitest'
import { openTestServer, textMessage } from './test-support/test-server.ts'

const v1 = { 'a2a-version': '1.0' }

describe('a principal that has stored as much as it may', () => {
  it('is told by each binding which limit it is, and when to try again', async () => {
    const server = await openTestServer({ options: { storedTasks: 0 } })
    const send = { message: textMessage('1.0', 'done') }
    const rest = await server.fetch('POST', '/message:send', send, v1)
    expect([rest.status, rest.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await rest.json()).toMatchObject({
      error: {
        details: [
          { reason: 'LIMIT_EXCEEDED', metadata: { limit: 'storedTasks of the principal' } },
        ],
      },
    })
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: send }
    const rpc = await server.fetch('POST', '/', body, v1)
    expect(rpc.headers.get('retry-after')).toBe('60')
    expect(await rpc.json()).toMatchObject({ error: { code: -32000 } })
  })
})

describe('a task with a long history', () => {
  it('is answered with the newest messages, as many as fit, in every version', async () => {
    const config = { historyBytes: 25_000 }
    const server = await openTestServer({ a2a: { config } })
    const { task } = await server.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', '{"script":[{"park":{"reason":"x"}}]}'),
      configuration: { returnImmediately: true },
    })
    const { id: taskId } = task
    for (const text of ['a', 'b', 'c']) {
      const message = { ...textMessage('1.0', text.repeat(10_000)), taskId }
      await server.ok('1.0', 'SendMessage', { message, configuration: { returnImmediately: true } })
    }
    const newest = (wire: { history: { parts: { text: string }[] }[] }): readonly string[] =>
      wire.history.map(({ parts }) => parts[0]?.text.slice(0, 1) ?? '')
    expect(newest(await server.ok('1.0', 'GetTask', { id: taskId }))).toEqual(['b', 'c'])
    expect(newest(await server.ok('0.3', 'tasks/get', { id: taskId }))).toEqual(['b', 'c'])
    const { tasks } = await server.ok('1.0', 'ListTasks', { historyLength: 4 })
    expect(newest(tasks[0])).toEqual(['b', 'c'])
    const few = await server.ok('1.0', 'GetTask', { id: taskId, historyLength: 1 })
    expect(newest(few)).toEqual(['c'])
    const none = await server.ok('1.0', 'GetTask', { id: taskId, historyLength: 0 })
    expect(none.history).toBeUndefined()
  })
})
