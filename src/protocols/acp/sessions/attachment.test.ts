import { describe, expect, it } from 'vitest'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const attach = (sessionId: string) => ({ sessionId, cwd: '/', mcpServers: [] })
const consent = [{ consent: { prompt: 'Push?', operation: { push: 'main' } } }]
const parked = [{ say: 'before' }, { park: { reason: 'ci' } }, { say: 'after' }]

async function openSession() {
  const harness = await openHarness()
  const editor = await harness.editor()
  return { harness, editor, sessionId: await newSession(editor) }
}

describe('an attachment', () => {
  it('A1 sends the past only on session/load', async () => {
    const { harness, editor, sessionId } = await openSession()
    await editor.request('session/prompt', prompt(sessionId, parked))
    const resumed = await harness.editor()
    await resumed.request('session/resume', attach(sessionId))
    const loaded = await harness.editor()
    await loaded.request('session/load', attach(sessionId))
    expect([resumed.text(), loaded.text()]).toEqual(['', 'before'])
  })

  it('A2 sends what another protocol causes, once, without an open prompt', async () => {
    const { harness, editor, sessionId } = await openSession()
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, parked))
    await editor.request('session/load', attach(sessionId))
    await harness.engine.resume(anyone, { taskId: _meta.lull.taskId })
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    expect(editor.updates('agent_message_chunk').map(({ content }) => content.text)).toEqual([
      'before',
      'before',
      'after',
    ])
  })

  it('A3 is not delayed by another client that does not read', async () => {
    const { harness, editor, sessionId } = await openSession()
    const { readable, writable } = harness.wire()
    const writer = writable.getWriter()
    const reader = readable.getReader()
    const send = (id: number, method: string, params: object) =>
      writer.write({ jsonrpc: '2.0', id, method, params })
    await send(1, 'initialize', { protocolVersion: 1 })
    await reader.read()
    await send(2, 'session/resume', attach(sessionId))
    await reader.read()
    await editor.request('session/prompt', prompt(sessionId, [{ say: 'one' }, { say: 'two' }]))
    expect(editor.text()).toBe('onetwo')
  })

  it('A4 answers a prompt after every update of its task', async () => {
    const { editor, sessionId } = await openSession()
    const { id, answer } = editor.begin('session/prompt', prompt(sessionId, parked))
    await answer
    const kinds = editor.received.map((one) =>
      one.id === id && one.method === undefined ? 'answer' : one.params?.update?.sessionUpdate,
    )
    const before = kinds.slice(0, kinds.indexOf('answer'))
    expect(before).toEqual(expect.arrayContaining(['agent_message_chunk', 'tool_call']))
    expect(kinds.slice(kinds.indexOf('answer') + 1)).not.toContain('tool_call')
  })

  it('A5 asks an open question at once, and again when the client attaches again', async () => {
    const { editor, sessionId } = await openSession()
    const asked: unknown[] = []
    editor.on('session/request_permission', (params) => {
      asked.push(params)
      return { outcome: { outcome: 'cancelled' } }
    })
    await editor.request('session/prompt', prompt(sessionId, consent))
    expect(asked).toHaveLength(1)
    await editor.request('session/resume', attach(sessionId))
    await expect.poll(() => asked.length).toBe(2)
  })
})
