import { describe, expect, it } from 'vitest'
import { acpSchemas } from '../catalog.ts'
import type { Loose } from '../test-support/editor.ts'
import { checkExtension } from '../test-support/extension-traffic.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const rfc = { _meta: { lull: { rfc: true } } }
const conditions = {
  onEvent: 'ci.passed',
  trigger: { filter: { exact: { type: 'ci.done' } } },
  timeout: { durationMinutes: 30, onTimeout: 'resume_with_input', input: { late: true } },
}
const park = { park: { reason: 'ci', summary: 'Waiting for the build', conditions } }

async function parked(capabilities: Loose = {}, answer?: Loose) {
  const harness = await openHarness()
  const editor = await harness.editor(capabilities)
  const asked: Loose[] = []
  for (const name of ['_session/await_resumption', 'session/await_resumption']) {
    if (answer !== undefined) {
      editor.on(name, (params) => {
        asked.push([name, params])
        return answer
      })
    }
  }
  const sessionId = await newSession(editor)
  const ended = await editor.request('session/prompt', prompt(sessionId, [park, { complete: 'x' }]))
  return { harness, editor, sessionId, asked, suspend: ended._meta.lull.suspend }
}

describe('initialize', () => {
  it('declares the capabilities of a session in the fields of the RFC and of the protocol', async () => {
    const harness = await openHarness()
    const editor = harness.connect()
    const { agentCapabilities, _meta } = await editor.request('initialize', { protocolVersion: 1 })
    expect(agentCapabilities).toMatchObject({
      supportsSuspend: true,
      supportsAwaitResumption: true,
      resumeCauses: ['explicit_resume', 'condition_fired', 'timeout', 'external_event'],
      loadSession: true,
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    })
    acpSchemas['CapabilitiesMeta']?.parse(agentCapabilities._meta.lull)
    expect(_meta).toEqual({ steering: { supported: true } })
  })
})

describe('notifications that Lull defines', () => {
  const park = [{ park: { reason: 'x' } }]

  it('go only to clients that declared support or called a method of Lull', async () => {
    const harness = await openHarness()
    const editor = await harness.editor({ _meta: {} })
    const sessionId = await newSession(editor)
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, park))
    expect(editor.received.filter(({ method }) => method?.startsWith('_'))).toEqual([])
    await editor.request('_session/wake', { sessionId, handle: _meta.lull.suspend.handle })
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    expect(editor.notifications('_session/resumed')).toHaveLength(1)
  })
})

describe('a self-park', () => {
  it('is shown as a tool call that lasts as long as the stop', async () => {
    const { editor, sessionId, suspend } = await parked()
    const call = editor.updates('tool_call').at(-1)
    expect(call).toMatchObject({
      toolCallId: suspend.handle,
      title: 'Parked: ci',
      status: 'in_progress',
      content: [{ content: { text: 'Waiting for the build' } }],
    })
    await editor.request('session/prompt', prompt(sessionId, 'go'))
    expect(editor.updates('tool_call_update')).toMatchObject([
      { toolCallId: suspend.handle, status: 'completed' },
    ])
  })

  it('is sent to the client, which need not answer', async () => {
    const { editor, suspend, sessionId, asked } = await parked({}, {})
    const { handle, deadlineAt } = suspend
    await expect.poll(() => asked).toHaveLength(1)
    expect(asked).toEqual([
      [
        '_session/await_resumption',
        {
          sessionId,
          handle,
          reason: 'ci',
          conditions,
          summary: 'Waiting for the build',
          deadlineAt,
          epoch: 1,
          _meta: expect.anything(),
        },
      ],
    ])
    expect(editor.updates('suspended')).toEqual([])
    checkExtension(editor.received)
  })

  it('can be woken by the handle that the client answered with', async () => {
    const { harness, editor, sessionId, asked } = await parked({}, { handle: 'theirs' })
    await expect.poll(() => asked).toHaveLength(1)
    await expect
      .poll(async () => {
        const row = await harness.store.session('default', 'anonymous', sessionId)
        return row?.aliases
      })
      .toMatchObject({ theirs: expect.any(String) })
    const answer = await editor.request('_session/wake', { sessionId, handle: 'theirs' })
    expect(answer.handle).toMatch(/^suspend-/)
  })

  it('has the names of the RFC for clients that declare the RFC', async () => {
    const { editor, sessionId, asked, suspend } = await parked(rfc, {})
    const { handle, suspendedAt } = suspend
    await expect
      .poll(() => asked.map(([name]) => name).sort())
      .toEqual(['_session/await_resumption', 'session/await_resumption'])
    expect(editor.updates('suspended')).toEqual([
      {
        sessionUpdate: 'suspended',
        handle,
        reason: 'ci',
        initiator: 'agent',
        suspendedAt,
        resumeWhen: conditions,
        _meta: expect.anything(),
      },
    ])
    await editor.request('session/resume', { sessionId, input: 1 })
    expect(editor.updates('resumed')).toEqual([
      {
        sessionUpdate: 'resumed',
        handle,
        cause: 'explicit_resume',
        hadResumeInput: true,
        continueTranscript: true,
        resumedAt: expect.any(String),
        _meta: expect.anything(),
      },
    ])
    expect([...checkExtension(editor.received)]).toEqual(
      expect.arrayContaining(['SessionUpdateSuspended', 'SessionUpdateResumed']),
    )
  })

  it('is in the metadata for every client, also as the envelope of Harn', async () => {
    const { editor, suspend } = await parked()
    const { lull, harn } = editor.updates('session_info_update').at(-1)._meta
    expect(lull.suspend).toEqual(suspend)
    expect(harn.suspend).toEqual({
      state: 'suspended',
      handle: suspend.handle,
      reason: 'ci',
      initiator: 'agent',
      suspended_at_ms: Date.parse(suspend.suspendedAt),
      resume_when: {
        on_event: 'ci.passed',
        trigger: conditions.trigger,
        timeout: {
          duration_minutes: 30,
          on_timeout: 'resume_with_input',
          input: { late: true },
        },
      },
      pipeline_span_link: null,
      prior_span_link: null,
      parent_worker_id: null,
    })
  })

  it('has no Harn metadata when the tunnel is off', async () => {
    const harness = await openHarness({ config: { harnTunnel: false } })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, [park]))
    expect(_meta.harn).toBeUndefined()
    expect(JSON.stringify(editor.received)).not.toContain('harn')
  })

  it('wakes by its timeout, sends updates without an open prompt, and gives the cause', async () => {
    const { harness, editor, suspend } = await parked()
    harness.clock.advance(30 * 60_000)
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    expect(editor.notifications('_session/resumed')).toMatchObject([
      { handle: suspend.handle, cause: 'timeout', hadResumeInput: true, epoch: 1 },
    ])
    checkExtension(editor.received)
  })

  it('that fails by its timeout ends the turn with the error', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const timeout = { durationMinutes: 1, onTimeout: 'fail' }
    const script = [{ park: { reason: 'ci', conditions: { timeout } } }]
    await editor.request('session/prompt', prompt(sessionId, script))
    harness.clock.advance(60_000)
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
    expect(editor.notifications('_session/turn_ended')[0].error.message).toContain('deadline')
    expect(editor.updates('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
    checkExtension(editor.received)
  })
})

describe('the tunnel', () => {
  const long = [{ say: 'at it' }, { step: 'long', ms: 60_000 }, { complete: 'done' }]
  const blank = (sessionId: string, suspend: Loose, name = 'harn') => ({
    sessionId,
    prompt: [{ type: 'text', text: ' ' }],
    _meta: { [name]: { suspend } },
  })

  it('suspends and wakes with a blank prompt, in either spelling', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const turn = editor.begin('session/prompt', prompt(sessionId, long))
    await expect.poll(() => editor.text()).toBe('at it')
    const op = { op: 'suspend', mode: 'interrupt_immediate', resume_when: { on_event: 'go' } }
    const stopped = await editor.request('session/prompt', blank(sessionId, op))
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })
    const { suspend } = stopped._meta.lull
    expect(suspend).toMatchObject({ state: 'suspended', resumeWhen: { onEvent: 'go' } })
    const wake = { op: 'wake', handle: suspend.handle, continue_transcript: false }
    const woken = editor.begin('session/prompt', blank(sessionId, wake, 'lull'))
    await expect
      .poll(() => editor.notifications('_session/resumed').at(-1))
      .toMatchObject({ cause: 'explicit_resume', continueTranscript: false })
    expect((await harness.advanceUntil(woken.answer))._meta.lull.state).toBe('completed')
  })

  it('wakes while the stop is in progress, and delivers the text of the prompt', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const turn = editor.begin('session/prompt', prompt(sessionId, long))
    await harness.began('long')
    const suspend = editor.begin('_session/suspend', { sessionId })
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull.suspend?.state)
      .toBe('quiescing')
    const _meta = { harn: { suspend: { op: 'wake' } } }
    const woken = editor.begin('session/prompt', prompt(sessionId, 'hear me', { _meta }))
    await expect(suspend.answer).rejects.toBeDefined()
    const [task] = (await harness.engine.list(anyone, { contextId: sessionId })).tasks
    const said = async () => JSON.stringify(await harness.engine.get(anyone, task?.id ?? ''))
    await expect.poll(said).toContain('hear me')
    expect(await harness.advanceUntil(woken.answer)).toMatchObject({ stopReason: 'end_turn' })
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })
  })

  it('is read on load and on resume too', async () => {
    const { editor, sessionId, suspend } = await parked()
    const _meta = { harn: { suspend: { op: 'wake', handle: suspend.handle, input: 'in' } } }
    const params = { sessionId, cwd: '/work', mcpServers: [], _meta }
    await editor.request('session/load', params)
    expect(editor.notifications('_session/resumed').at(-1)).toMatchObject({ hadResumeInput: true })
    await expect(editor.request('session/resume', params)).rejects.toMatchObject({ code: -32011 })
  })

  it('refuses unknown operations, with the path', async () => {
    const { editor, sessionId } = await parked()
    const ask = (suspend: Loose) => editor.request('session/prompt', blank(sessionId, suspend))
    await expect(ask({ op: 'sleep' })).rejects.toMatchObject({
      code: -32602,
      data: { path: '_meta.harn.suspend.op' },
    })
    await expect(ask({ op: 'suspend', mode: 'now' })).rejects.toMatchObject({
      data: { path: '_meta.harn.suspend.mode' },
    })
  })
})
