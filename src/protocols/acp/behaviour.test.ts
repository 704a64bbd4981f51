/** What sessions do where several rules of the adapter meet, seen by a client of the protocol. */
import { describe, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import type { Editor, Loose } from './test-support/editor.ts'
import { anyone, type Harness, newSession, openHarness, prompt } from './test-support/harness.ts'

const HOUR = 60 * 60_000
const attach = (sessionId: string) => ({ sessionId, cwd: '/', mcpServers: [] })

async function scene(capabilities: Loose = {}) {
  const harness = await openHarness()
  const editor = await harness.editor(capabilities)
  return { harness, editor, sessionId: await newSession(editor) }
}

const only = async ({ engine }: Harness, sessionId: string) =>
  (await engine.list(anyone, { contextId: sessionId })).tasks[0]

const lastData = (editor: Editor): Loose =>
  JSON.parse(editor.updates('agent_message_chunk').at(-1)?.content.resource?.text ?? 'null')

describe('a long wait for a tool', () => {
  it('takes no turn and no step while it lasts, and goes on by itself when the event comes', async () => {
    const { harness, editor, sessionId } = await scene()
    const conditions = { onEvent: 'ci.passed' }
    const ops = [
      { turn: [{ tool: 'start-build' }, { park: { reason: 'CI runs', conditions } }] },
      { step: 'ship' },
      { complete: 'Shipped.' },
    ]
    const parked = await editor.request('session/prompt', prompt(sessionId, ops))
    expect(parked).toMatchObject({
      stopReason: 'end_turn',
      _meta: { lull: { suspend: { state: 'suspended', reason: 'CI runs' } } },
    })
    const before = { ran: harness.ran(), version: (await only(harness, sessionId))?.version }
    harness.clock.advance(HOUR)
    const after = { ran: harness.ran(), version: (await only(harness, sessionId))?.version }
    expect(after).toEqual(before)
    expect(before.ran).toEqual(['begin start-build', 'end start-build'])

    await harness.engine.emit(anyone, [{ id: 'e', source: 'ci', type: 'ci.passed' } as Loose])
    await expect.poll(() => editor.text()).toBe('Shipped.')
    expect(harness.ran().slice(2)).toEqual(['begin ship', 'end ship'])
    expect(editor.notifications('_session/resumed')).toMatchObject([{ cause: 'condition_fired' }])
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
  })
})

describe('a client that disconnects', () => {
  it('leaves a parked task parked, and the next one wakes it by its handle', async () => {
    const { harness, editor, sessionId } = await scene()
    const ops = [{ park: { reason: 'ci' } }, { complete: 'Shipped.' }]
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, ops))
    await editor.close()
    expect((await only(harness, sessionId))?.state).toBe('paused-by-agent')
    const next = await harness.editor()
    const { handle } = _meta.lull.suspend
    await next.request('session/resume', { ...attach(sessionId), handle })
    await expect.poll(() => next.text()).toBe('Shipped.')
  })
})

describe('a prompt', () => {
  it('of a client that declares the RFC is kept as a message, which the task has when it goes on', async () => {
    const { editor, sessionId } = await scene({ _meta: { lull: { rfc: true } } })
    const ops = [{ park: { reason: 'ci' } }, { turn: [{ echo: 'messages' }] }]
    await editor.request('session/prompt', prompt(sessionId, ops))
    await editor.request('session/prompt', prompt(sessionId, 'mind the tests'))
    await editor.request('session/resume', { sessionId })
    await expect.poll(() => JSON.stringify(lastData(editor))).toContain('mind the tests')
  })

  it('never lifts the stop of a policy: it is refused, and nothing of it is kept', async () => {
    const code = (name: string) =>
      agent({
        name: 'builder',
        description: 'Parks',
        run: (task) => task.park({ reason: 'x', onEvent: name }).then(() => 'done'),
      })
    const harness = await openHarness({ agents: [code('a')] })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request('session/prompt', prompt(sessionId, 'go'))
    await harness.acp.close()
    await harness.engine.drain({ timeoutMs: 0 })
    const { store, clock } = harness
    const next = await openHarness({ agents: [code('b')], store, clock })
    const other = await next.editor()
    await other.request('session/resume', attach(sessionId))
    await other.request('_session/wake', { sessionId })
    await expect
      .poll(async () => (await only(next, sessionId))?.suspension?.actor.kind)
      .toBe('policy')
    const refused = { code: -32011, data: { reason: 'session_held' } }
    const before = (await only(next, sessionId))?.version
    await expect(other.request('session/prompt', prompt(sessionId, 'go on'))).rejects.toMatchObject(
      refused,
    )
    expect((await only(next, sessionId))?.version).toBe(before)
  })
})

describe('a suspend', () => {
  it('of a session with several running tasks is refused as ambiguous', async () => {
    const { harness, editor, sessionId } = await scene()
    const ops = [{ step: 'one', ms: 60_000 }]
    editor.begin('session/prompt', prompt(sessionId, ops))
    await harness.began('one')
    const parts = [{ data: { script: [{ step: 'two', ms: 60_000 }] } }]
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts, contextId: sessionId }
    const sent = await harness.engine.send(anyone, { message, origin: 'a2a' })
    const other = sent.kind === 'task' ? sent.task.id : ''
    await harness.began('two')
    const request = { sessionId, mode: 'interrupt_immediate' }
    await expect(editor.request('_session/suspend', request)).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'ambiguous' },
    })
    const _meta = { lull: { taskId: other } }
    await editor.request('_session/suspend', { ...request, _meta })
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    expect(tasks.find(({ id }) => id === other)?.state).toBe('paused-by-client')
    expect(tasks.find(({ id }) => id !== other)?.state).toBe('working')
  })

  it('while credentials are asked for is refused, and the request for them stays', async () => {
    const { harness, editor, sessionId } = await scene()
    await editor.request('session/prompt', prompt(sessionId, [{ auth: 'Log in' }]))
    await expect(editor.request('_session/suspend', { sessionId })).rejects.toMatchObject({
      code: -32011,
      data: { reason: 'not_running', state: 'auth-required' },
    })
    expect((await only(harness, sessionId))?.state).toBe('auth-required')
  })

  it('with a question open withdraws it; the next attachment after the wake asks it', async () => {
    const forms = { elicitation: { form: {} } }
    const { harness, editor, sessionId } = await scene(forms)
    const asked: Loose[] = []
    editor.on('elicitation/create', (params) => {
      asked.push(params)
      return new Promise(() => undefined)
    })
    editor.begin('session/prompt', prompt(sessionId, [{ ask: 'which?' }, { complete: 'ok' }]))
    await expect.poll(() => asked.length).toBe(1)
    const { handle } = await editor.request('_session/suspend', { sessionId })
    expect(editor.notifications('$/cancel_request')).toHaveLength(1)
    await editor.close()
    const taskId = (await only(harness, sessionId))?.id ?? ''
    const next = await harness.editor(forms)
    const again: Loose[] = []
    next.on('elicitation/create', (params) => {
      again.push(params)
      return { action: 'accept', content: { answer: 'this' } }
    })
    await next.request('session/load', attach(sessionId))
    expect(again).toEqual([])
    await harness.engine.resume(anyone, { taskId, handle })
    await expect.poll(() => next.text()).toContain('ok')
    expect(again).toHaveLength(1)
  })
})
