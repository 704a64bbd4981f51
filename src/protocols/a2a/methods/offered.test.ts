import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  textMessage,
} from '../test-support/test-server.ts'

describe('an agent that switched them off', () => {
  it('answers -32601, and its cards do not mention them', async () => {
    const quiet = agent({
      name: 'quiet',
      description: 'd',
      pause: false,
      reminders: false,
      run: async (task) => {
        await task.ask('?')
      },
    })
    const testServer = await openTestServer({ agents: [quiet] })
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const params = { taskId: task.id }
    const reminder = { body: 'b' }
    expect((await testServer.rpc('1.0', 'tasks/pause', params)).error.code).toBe(-32601)
    expect(
      (await testServer.rpc('0.3', 'tasks/inject_reminder', { ...params, reminder })).error.code,
    ).toBe(-32601)
    const card = await (await testServer.fetch('GET', '/.well-known/agent-card.json')).text()
    expect(card).not.toMatch(/supportsPause|task-control|reminders/)
    // Decided before anybody looks at the parameters or the task.
    for (const method of [
      'pause',
      'resume',
      'await_resumption',
      'inject_reminder',
      'list_reminders',
    ]) {
      for (const wrong of [{}, { taskId: 'nope' }, { taskId: 7, mode: 'fly' }]) {
        for (const version of ['0.3', '1.0'] as const) {
          const { error } = await testServer.rpc(version, `tasks/${method}`, wrong)
          expect([method, error.code]).toEqual([method, -32601])
        }
      }
    }
    const bindu = await testServer.rpc('0.3', 'tasks/pause', { task_id: 'nope' })
    expect(bindu.error.code).toBe(-32601)
    const rest = await testServer.fetch('POST', '/tasks/nope:pause', { mode: 'fly' })
    expect(rest.status).toBe(404)
  })
})

describe('an agent that only replies', () => {
  it('declares neither pause, reminders nor consent, and has none of their methods', async () => {
    const parrot = agent({
      name: 'parrot',
      description: 'd',
      receive: (_message, { reply }) => reply('hello'),
    })
    const testServer = await openTestServer({ agents: [parrot] })
    for (const headers of [{}, { 'a2a-version': '1.0' }]) {
      const response = await testServer.fetch(
        'GET',
        '/.well-known/agent-card.json',
        undefined,
        headers,
      )
      expect(await response.text()).not.toMatch(/supportsPause|urn:lull|reminders|harn/)
    }
    for (const method of ['tasks/pause', 'tasks/inject_reminder']) {
      expect((await testServer.rpc('0.3', method, { taskId: 'x' })).error.code).toBe(-32601)
    }
  })
})

describe('an address that serves several agents', () => {
  it('controls the tasks of those that offer it, whatever the first agent offers', async () => {
    const quiet = agent({ name: 'quiet', description: 'd', pause: false, run: () => 'done' })
    const script = createScriptAgent({ clock: createManualClock() })
    const testServer = await openTestServer({ agents: [quiet, script] })
    const body = { message: scripted('1.0', [{ park: { reason: 'r' } }]) }
    const path = '/agents/script/message:send'
    const { task } = (await (
      await testServer.fetch('POST', path, { ...body, configuration: { returnImmediately: true } })
    ).json()) as Loose
    await testServer.engine.waitFor(anyone, task.id, ({ state }) => state === 'paused-by-agent')
    expect((await testServer.rpc('1.0', 'tasks/resume', { taskId: 'nope' })).error.code).toBe(
      -32601,
    )
    expect((await testServer.ok('1.0', 'tasks/resume', { taskId: task.id })).state).toBe('working')
  })
})
