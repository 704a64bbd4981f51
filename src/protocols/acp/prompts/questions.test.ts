import { describe, expect, it } from 'vitest'
import { ALL_TENANTS } from '../../../engine/caller.ts'
import type { Editor, Loose } from '../test-support/editor.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const operator = { tenant: ALL_TENANTS, principal: 'olga', operator: true }
const forms = { elicitation: { form: {} } }
const consent = [
  { consent: { prompt: 'Push main?', operation: { push: 'main' } } },
  { complete: 'pushed' },
]
const attach = (sessionId: string) => ({ sessionId, cwd: '/', mcpServers: [] })

/** Answers every request with what `answer` gives; a promise that never settles leaves it open. */
function answering(editor: Editor, method: string, answer: (n: number) => Loose): Loose[] {
  const asked: Loose[] = []
  editor.on(method, (params) => {
    asked.push(params)
    return answer(asked.length)
  })
  return asked
}

const choose = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })
const open = () => new Promise<never>(() => undefined)

async function scene(capabilities: Loose = {}) {
  const harness = await openHarness()
  const editor = await harness.editor(capabilities)
  return { harness, editor, sessionId: await newSession(editor) }
}

describe('consent', () => {
  it('is a permission request; when it is allowed, the prompt continues to its end', async () => {
    const { editor, sessionId } = await scene()
    const asked = answering(editor, 'session/request_permission', () => choose('allow'))
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, consent))
    expect(_meta.lull.state).toBe('completed')
    expect(asked).toMatchObject([
      {
        sessionId,
        toolCall: { title: 'Push main?', status: 'pending', rawInput: { push: 'main' } },
        options: [{ kind: 'allow_once' }, { kind: 'reject_once' }],
      },
    ])
    const { toolCallId } = asked[0].toolCall
    const calls = editor.received.map((one) => one.params?.update)
    expect(calls.filter((update) => update?.toolCallId === toolCallId)).toMatchObject([
      { sessionUpdate: 'tool_call', status: 'pending' },
      { sessionUpdate: 'tool_call_update', status: 'completed' },
    ])
    expect(editor.updates('user_message_chunk')).toEqual([])
  })

  it('that is rejected ends the prompt with the stop reason refusal', async () => {
    const { editor, sessionId } = await scene()
    answering(editor, 'session/request_permission', () => choose('reject'))
    const { stopReason } = await editor.request('session/prompt', prompt(sessionId, consent))
    expect(stopReason).toBe('refusal')
  })

  it.each([
    ['dismissed', { outcome: { outcome: 'cancelled' } }],
    ['answered with an option that was not offered', choose('maybe')],
  ])('Q3 %s stays open: the prompt ends, and the next attachment asks again', async (_, answer) => {
    const { harness, editor, sessionId } = await scene()
    answering(editor, 'session/request_permission', () => answer)
    const { stopReason, _meta } = await editor.request('session/prompt', prompt(sessionId, consent))
    expect(stopReason).toBe('end_turn')
    expect(_meta.lull).toMatchObject({
      state: 'user-consent-required',
      question: { text: 'Push main?', consentId: expect.any(String) },
    })
    const other = await harness.editor()
    answering(other, 'session/request_permission', () => choose('allow'))
    await other.request('session/resume', attach(sessionId))
    await expect.poll(() => other.text()).toBe('pushed')
  })

  it('Q3 stays open for a client without permission requests, and the prompt ends', async () => {
    const { editor, sessionId } = await scene()
    const { stopReason } = await editor.request('session/prompt', prompt(sessionId, consent))
    expect(stopReason).toBe('end_turn')
  })

  it('Q1 is asked once per connection, also after a disconnect and after a restart', async () => {
    const { harness, editor, sessionId } = await scene()
    const first = answering(editor, 'session/request_permission', open)
    editor.begin('session/prompt', prompt(sessionId, consent))
    await expect.poll(() => first.length).toBe(1)
    await editor.close()

    const second = await harness.editor()
    const again = answering(second, 'session/request_permission', open)
    await second.request('session/load', attach(sessionId))
    await expect.poll(() => again.length).toBe(1)
    expect(again[0].toolCall.toolCallId).toBe(first[0].toolCall.toolCallId)

    const next = await harness.restart()
    const third = await next.editor()
    answering(third, 'session/request_permission', () => choose('allow'))
    await third.request('session/resume', attach(sessionId))
    await expect.poll(() => third.notifications('_session/turn_ended')).toHaveLength(1)
    const { tasks } = await next.engine.list(anyone, { contextId: sessionId })
    expect(tasks.map(({ state }) => state)).toEqual(['completed'])
  })

  it('Q1 Q2 that is answered elsewhere is withdrawn, and the prompt goes on', async () => {
    const { harness, editor, sessionId } = await scene()
    const asked = answering(editor, 'session/request_permission', open)
    const turn = editor.begin('session/prompt', prompt(sessionId, consent))
    await expect.poll(() => asked.length).toBe(1)
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    const task = tasks[0]
    const data = { consentId: task?.question?.consent?.consentId ?? '', decision: 'granted' }
    await harness.engine.send(anyone, {
      message: { messageId: 'a', role: 'ROLE_USER', parts: [{ data }], taskId: task?.id ?? '' },
    })
    expect((await turn.answer)._meta.lull.state).toBe('completed')
    const id = editor.received.find(({ method }) => method === 'session/request_permission').id
    expect(editor.notifications('$/cancel_request')).toEqual([{ requestId: id }])
  })

  it('Q1 is withdrawn under a hold, and asked again after the hold', async () => {
    const { harness, editor, sessionId } = await scene()
    const asked = answering(editor, 'session/request_permission', (n) =>
      n === 1 ? open() : choose('allow'),
    )
    const turn = editor.begin('session/prompt', prompt(sessionId, consent))
    await expect.poll(() => asked.length).toBe(1)
    const { holdId } = await harness.engine.hold(operator, { scope: { all: true }, reason: 'x' })
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })
    expect(editor.notifications('$/cancel_request')).toHaveLength(1)
    expect(asked).toHaveLength(1)
    await harness.engine.lift(operator, holdId)
    await expect.poll(() => editor.text()).toBe('pushed')
  })

  it('of a child reaches the user, and the prompt of its parent waits for it', async () => {
    const { editor, sessionId } = await scene()
    const asked = answering(editor, 'session/request_permission', () => choose('allow'))
    const ops = [{ delegate: { script: consent }, wait: true }, { complete: 'both' }]
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, ops))
    expect(_meta.lull.state).toBe('completed')
    expect(asked).toHaveLength(1)
    expect(editor.text()).toBe('both')
  })
})

describe('a question', () => {
  const ops = [{ ask: 'Squash or merge?' }, { echo: 'input' }]

  it('is a form if the client supports forms', async () => {
    const { editor, sessionId } = await scene(forms)
    const asked = answering(editor, 'elicitation/create', () => ({
      action: 'accept',
      content: { answer: 'squash' },
    }))
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, ops))
    expect(_meta.lull.state).toBe('completed')
    expect(asked).toMatchObject([
      { mode: 'form', sessionId, message: 'Squash or merge?', requestedSchema: { type: 'object' } },
    ])
    expect(editor.updates('agent_message_chunk').at(-1).content.resource.text).toContain('squash')
  })

  it.each([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: {} }])(
    'dismissed with %j is left to the next prompt',
    async (answer) => {
      const { editor, sessionId } = await scene(forms)
      answering(editor, 'elicitation/create', () => answer)
      const asked = await editor.request('session/prompt', prompt(sessionId, ops))
      expect(asked).toMatchObject({
        stopReason: 'end_turn',
        _meta: { lull: { state: 'input-required' } },
      })
      const { _meta } = await editor.request('session/prompt', prompt(sessionId, 'merge'))
      expect(_meta.lull.state).toBe('completed')
    },
  )

  it('Q2 that is open as a form can be answered by a prompt, which withdraws the form', async () => {
    const { editor, sessionId } = await scene(forms)
    const asked = answering(editor, 'elicitation/create', open)
    const turn = editor.begin('session/prompt', prompt(sessionId, ops))
    await expect.poll(() => asked.length).toBe(1)
    const answer = await editor.request('session/prompt', prompt(sessionId, 'merge'))
    expect(answer._meta.lull.state).toBe('completed')
    expect(await turn.answer).toMatchObject({ _meta: { lull: { state: 'completed' } } })
    expect(editor.notifications('$/cancel_request')).toHaveLength(1)
  })

  it('Q3 of a child, for a client without forms, ends the prompt: the next prompt is the answer', async () => {
    const { editor, sessionId } = await scene()
    const delegate = [{ delegate: { script: [{ ask: 'which?' }] }, wait: true }, { complete: 'ok' }]
    const asked = await editor.request('session/prompt', prompt(sessionId, delegate))
    expect(asked.stopReason).toBe('end_turn')
    expect(editor.text()).toBe('which?')
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, 'this'))
    expect(_meta.lull.state).toBe('completed')
  })

  it('for credentials is never a form', async () => {
    const { editor, sessionId } = await scene(forms)
    const asked = answering(editor, 'elicitation/create', open)
    const answer = await editor.request('session/prompt', prompt(sessionId, [{ auth: 'Log in' }]))
    expect(answer._meta.lull.state).toBe('auth-required')
    expect(asked).toEqual([])
    expect(editor.text()).toBe('Log in')
  })
})
