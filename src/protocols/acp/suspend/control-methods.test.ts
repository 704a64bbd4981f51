import { describe, expect, it } from 'vitest'
import { ALL_TENANTS } from '../../../engine/caller.ts'
import type { Editor, Loose } from '../test-support/editor.ts'
import { anyone, type Harness, newSession, openHarness, prompt } from '../test-support/harness.ts'

const operator = { tenant: ALL_TENANTS, principal: 'olga', operator: true }
const long = [
  { say: 'at it' },
  { step: 'long', ms: 60_000 },
  { echo: 'wake' },
  { complete: 'done' },
]

interface Scene {
  readonly harness: Harness
  readonly editor: Editor
  readonly sessionId: string
}

async function scene(capabilities: Loose = {}): Promise<Scene> {
  const harness = await openHarness()
  const editor = await harness.editor(capabilities)
  return { harness, editor, sessionId: await newSession(editor) }
}

/** A prompt whose step runs. */
async function running(some: Loose = {}, capabilities: Loose = {}) {
  const opened = await scene(capabilities)
  const { editor, sessionId } = opened
  const turn = editor.begin('session/prompt', prompt(sessionId, long, some))
  await expect.poll(() => editor.text()).toContain('at it')
  return { ...opened, turn }
}

async function parked(conditions?: Loose) {
  const opened = await scene()
  const { editor, sessionId } = opened
  const script = [{ park: { reason: 'ci', summary: 'S', conditions } }, { echo: 'wake' }]
  const answer = await editor.request('session/prompt', prompt(sessionId, script))
  return { ...opened, suspend: answer._meta.lull.suspend, taskId: answer._meta.lull.taskId }
}

const now = { mode: 'interrupt_immediate' }

describe('_session/suspend', () => {
  it('answers when the stop is durable, and ends the prompt with end_turn', async () => {
    const { editor, sessionId, turn } = await running()
    const resumeWhen = { onEvent: 'ci.passed', timeout: { durationMinutes: 5 } }
    const request = { sessionId, reason: 'lunch', resumeWhen, ...now }
    const answer = await editor.request('_session/suspend', request)
    expect(answer).toEqual({
      handle: expect.stringMatching(/^suspend-/),
      reason: 'lunch',
      suspendedAt: expect.stringMatching(/Z$/),
      resumeWhen,
      summary: expect.stringMatching(
        /^Suspended: lunch\. The agent said last: "at it"\. It goes on at the event ci\.passed, or at \d{4}-.*Z, or when resumed\.$/,
      ),
      _meta: expect.anything(),
    })
    const ended = await turn.answer
    expect(ended).toMatchObject({
      stopReason: 'end_turn',
      _meta: { lull: { suspend: { state: 'suspended', handle: answer.handle, resumeWhen } } },
    })
  })

  it('sends the updates first, then the answer to the prompt, then its own answer', async () => {
    const { editor, sessionId, turn } = await running()
    const suspend = editor.begin('_session/suspend', { sessionId, ...now })
    await suspend.answer
    const order = editor.received.flatMap((one) => {
      if (one.params?.update?.sessionUpdate === 'session_info_update') {
        return one.params.update._meta?.lull?.suspend?.state ?? []
      }
      if (one.method === '_session/suspended') return 'notification'
      return one.id === turn.id ? 'prompt' : one.id === suspend.id ? 'suspend' : []
    })
    expect(order).toEqual(['quiescing', 'suspended', 'notification', 'prompt', 'suspend'])
  })

  it('waits for a long step, and shows quiescing meanwhile', async () => {
    const { harness, editor, sessionId } = await running()
    const { answer } = editor.begin('_session/suspend', { sessionId })
    let settled = false
    void answer.then(() => {
      settled = true
    })
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull.suspend?.state)
      .toBe('quiescing')
    expect(settled).toBe(false)
    expect(await harness.advanceUntil(answer)).toMatchObject({ suspendedAt: expect.any(String) })
  })

  it('finds the turn of a prompt that was sent just before', async () => {
    const { editor, sessionId } = await scene()
    const turn = editor.begin('session/prompt', prompt(sessionId, long))
    await editor.request('_session/suspend', { sessionId, ...now })
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })
  })

  it('repeated, gives the same handle, reason and time', async () => {
    const { editor, sessionId } = await running()
    const first = await editor.request('_session/suspend', { sessionId, reason: 'a', ...now })
    const second = await editor.request('session/suspend', { sessionId, reason: 'b' })
    expect(second).toEqual(first)
  })

  it('is taken back by $/cancel_request', async () => {
    const { harness, editor, sessionId, turn } = await running()
    const suspend = editor.begin('_session/suspend', { sessionId })
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull.suspend?.state)
      .toBe('quiescing')
    await editor.notify('$/cancel_request', { requestId: suspend.id })
    await expect(suspend.answer).rejects.toMatchObject({ code: -32800 })
    expect(await harness.advanceUntil(turn.answer)).toMatchObject({
      _meta: { lull: { state: 'completed' } },
    })
  })

  it.each([
    [{ mode: 'soon' }, 'mode'],
    [{ reason: 7 }, 'reason'],
    [{ resumeWhen: { timeout: { durationMinutes: 0 } } }, 'resumeWhen.timeout.durationMinutes'],
    [{ resumeWhen: { later: 1 } }, 'resumeWhen.later'],
    [{ why: 'x' }, 'why'],
    [{ sessionId: 7 }, 'sessionId'],
    [{ _meta: { lull: { taskId: 7 } } }, '_meta.lull.taskId'],
    [{ _meta: { lull: { taskId: 'nope' } } }, '_meta.lull.taskId'],
  ])('refuses %j and names the place', async (wrong, path) => {
    const { editor, sessionId } = await scene()
    await expect(editor.request('_session/suspend', { sessionId, ...wrong })).rejects.toMatchObject(
      { code: -32602, data: { path } },
    )
  })

  it('answers not found for an unknown session, and not_running for an idle one', async () => {
    const { editor, sessionId } = await scene()
    await expect(editor.request('_session/suspend', { sessionId: 'x' })).rejects.toMatchObject({
      code: -32002,
      data: { sessionId: 'x' },
    })
    await expect(editor.request('_session/suspend', { sessionId })).rejects.toMatchObject({
      code: -32011,
      data: { reason: 'not_running', sessionId },
    })
  })

  it('of a parked session is not running', async () => {
    const { editor, sessionId } = await parked()
    await expect(editor.request('_session/suspend', { sessionId })).rejects.toMatchObject({
      code: -32011,
      data: { reason: 'not_running', state: 'paused-by-agent' },
    })
  })

  it('of a task that ends first is terminal', async () => {
    const { harness, editor, sessionId } = await scene()
    const turn = editor.begin('session/prompt', prompt(sessionId, [{ step: 'one', ms: 100 }]))
    const mode = 'wait_for_completion'
    const suspend = editor.begin('_session/suspend', { sessionId, mode })
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull.suspend?.state)
      .toBe('quiescing')
    await harness.advanceUntil(turn.answer)
    await expect(suspend.answer).rejects.toMatchObject({
      code: -32011,
      data: { reason: 'run_terminal' },
    })
  })

  it('with a question open keeps it and asks again after the wake', async () => {
    const { editor, sessionId } = await scene({ elicitation: { form: {} } })
    const asked: Loose[] = []
    editor.on('elicitation/create', (params) => {
      asked.push(params)
      return asked.length === 1
        ? new Promise(() => undefined)
        : { action: 'accept', content: { answer: 'this' } }
    })
    const turn = editor.begin('session/prompt', prompt(sessionId, [{ ask: 'which?' }]))
    await expect.poll(() => asked.length).toBe(1)
    const { handle } = await editor.request('_session/suspend', { sessionId })
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })
    expect(editor.notifications('$/cancel_request')).toHaveLength(1)
    await editor.request('_session/wake', { sessionId, handle })
    await expect.poll(() => asked.length).toBe(2)
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
  })
})

describe('_session/wake', () => {
  it.each(['_session/wake', '_session/resume', 'session/resume'])('%s wakes', async (method) => {
    const { editor, sessionId, suspend } = await parked()
    const request = {
      sessionId,
      handle: suspend.handle,
      input: { a: 1 },
      continueTranscript: false,
    }
    const answer = await editor.request(method, request)
    const wake = {
      handle: suspend.handle,
      cause: 'explicit_resume',
      resumedAt: expect.any(String),
      hadResumeInput: true,
      continueTranscript: false,
    }
    expect(method === 'session/resume' ? answer._meta.lull.wake : answer).toMatchObject(wake)
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    const echo = JSON.parse(editor.updates('agent_message_chunk').at(-1).content.resource.text)
    expect(echo).toMatchObject({ cause: 'explicit_resume', input: { a: 1 } })
  })

  it('sends updates without an open prompt and ends with a notification', async () => {
    const { editor, sessionId, taskId } = await parked()
    const before = editor.received.length
    await editor.request('_session/wake', { sessionId })
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    expect(editor.notifications('_session/turn_ended')[0]).toMatchObject({
      sessionId,
      taskId,
      stopReason: 'end_turn',
    })
    const kinds = editor.received.slice(before).map((one) => one.params?.update?.sessionUpdate)
    expect(kinds).toContain('agent_message_chunk')
  })

  it('refuses another handle and an old one, with the cause of the earlier wake', async () => {
    const { editor, sessionId, suspend } = await parked()
    await expect(
      editor.request('_session/wake', { sessionId, handle: 'suspend-x' }),
    ).rejects.toMatchObject({ code: -32012, data: { reason: 'handle_mismatch' } })
    const { handle } = suspend
    await editor.request('_session/wake', { sessionId, handle })
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    await expect(editor.request('_session/wake', { sessionId, handle })).rejects.toMatchObject({
      code: -32011,
      data: { reason: 'not_suspended' },
    })
  })

  it('of a running session answers with the cause of the last wake', async () => {
    const { editor, sessionId } = await scene()
    const script = [{ park: { reason: 'a' } }, { step: 'long', ms: 60_000 }]
    const answer = await editor.request('session/prompt', prompt(sessionId, script))
    const { handle } = answer._meta.lull.suspend
    await editor.request('_session/wake', { sessionId, handle })
    await expect(editor.request('_session/wake', { sessionId, handle })).rejects.toMatchObject({
      data: { reason: 'not_suspended', cause: 'explicit_resume', resumedAt: expect.any(String) },
    })
  })

  it('of a held session is refused, and so is a prompt', async () => {
    const { harness, editor, sessionId, suspend } = await parked()
    await harness.engine.hold(operator, { scope: { all: true }, reason: 'panic' })
    const held = { code: -32011, data: { reason: 'session_held' } }
    const { handle } = suspend
    await expect(editor.request('_session/wake', { sessionId, handle })).rejects.toMatchObject(held)
    await expect(editor.request('session/prompt', prompt(sessionId, 'go'))).rejects.toMatchObject(
      held,
    )
  })

  it("by a prompt never lifts an operator's stop", async () => {
    const { harness, editor, sessionId, turn } = await running()
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    const taskId = tasks[0]?.id ?? ''
    await harness.engine.pause(operator, { taskId, mode: 'interrupt_immediate' })
    await turn.answer
    await expect(editor.request('session/prompt', prompt(sessionId, 'go'))).rejects.toMatchObject({
      data: { reason: 'session_held' },
    })
    const { history } = await harness.engine.get(anyone, taskId)
    expect(history).toHaveLength(1)
  })
})

describe('a session with several tasks', () => {
  async function two() {
    const opened = await parked()
    const { harness, sessionId } = opened
    const parts = [{ data: { script: [{ park: { reason: 'other' } }] } }]
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts, contextId: sessionId }
    const sent = await harness.engine.send(anyone, { message, origin: 'a2a' })
    const other = sent.kind === 'task' ? sent.task.id : ''
    await harness.engine.waitFor(anyone, other, (task) => task.state === 'paused-by-agent')
    return { ...opened, other }
  }

  it('refuses a request that fits several tasks as ambiguous', async () => {
    const { editor, sessionId, taskId, other } = await two()
    const ambiguous = { code: -32602, data: { reason: 'ambiguous', taskIds: [taskId, other] } }
    await expect(editor.request('_session/wake', { sessionId })).rejects.toMatchObject(ambiguous)
    await expect(editor.request('session/prompt', prompt(sessionId, 'go'))).rejects.toMatchObject(
      ambiguous,
    )
  })

  it('accepts a handle or a task id to choose the task', async () => {
    const { harness, editor, sessionId, taskId, suspend, other } = await two()
    await editor.request('_session/wake', { sessionId, handle: suspend.handle })
    expect((await harness.engine.get(anyone, taskId)).suspension).toBeUndefined()
    expect((await harness.engine.get(anyone, other)).state).toBe('paused-by-agent')
    const again = await two()
    const _meta = { lull: { taskId: again.other } }
    const woken = await again.editor.request(
      'session/prompt',
      prompt(again.sessionId, 'go', { _meta }),
    )
    expect(woken._meta.lull.taskId).toBe(again.other)
  })

  it('is closed with the tasks that prompts began, and no other', async () => {
    const { harness, editor, sessionId, taskId, other } = await two()
    await editor.request('session/close', { sessionId })
    expect((await harness.engine.get(anyone, taskId)).state).toBe('canceled')
    expect((await harness.engine.get(anyone, other)).state).toBe('paused-by-agent')
  })
})
