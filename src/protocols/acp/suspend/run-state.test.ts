import { describe, expect, it } from 'vitest'
import type { Editor, Loose } from '../test-support/editor.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const long = [
  { say: 'at it' },
  { step: 'one', ms: 100 },
  { step: 'two', ms: 100 },
  { say: ' done' },
]

async function running() {
  const harness = await openHarness()
  // An unmodified client: it declares nothing of ours.
  const editor = await harness.editor({ _meta: {} })
  const { sessionId, configOptions } = await editor.request('session/new', {
    cwd: '/',
    mcpServers: [],
  })
  const turn = editor.begin('session/prompt', prompt(sessionId, long))
  await expect.poll(() => editor.text()).toBe('at it')
  await harness.began('one')
  const set = (value: Loose, on: Editor = editor) =>
    on.request('session/set_config_option', { sessionId, configId: 'run_state', value })
  return { harness, editor, sessionId, configOptions, turn, set }
}

const value = ({ configOptions }: Loose) => configOptions[0].currentValue

describe('run_state', () => {
  it('suspends during a turn and resumes, without methods of Lull', async () => {
    const { harness, editor, sessionId, turn, set } = await running()
    const suspending = set('suspended-1.1')
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull?.suspend?.state)
      .toBe('quiescing')
    expect(value(await harness.advanceUntil(suspending))).toBe('suspended-1.1')
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })
    expect(value(editor.updates('config_option_update').at(-1))).toBe('suspended-1.1')
    expect(value(await set('running-1.1'))).toBe('running-1.1')
    await expect
      .poll(() => {
        harness.clock.advance(100)
        return editor.text()
      })
      .toBe('at it done')
    const next = await editor.request('session/prompt', prompt(sessionId, 'x'))
    expect(next.stopReason).toBe('end_turn')
    expect(value(editor.updates('config_option_update').at(-1))).toMatch(/^running-2\.0$/)
  })

  it('accepts a value that was remembered from an earlier suspension, and changes nothing', async () => {
    const { harness, sessionId, set } = await running()
    const suspending = set('suspended-1.1')
    await harness.advanceUntil(suspending)
    await set('running-1.1')
    const other = await harness.editor({ _meta: {} })
    await other.request('session/resume', { sessionId, cwd: '/', mcpServers: [] })
    expect(value(await set('suspended-1.1', other))).toBe('running-1.1')
    expect(value(await set('running-1.0', other))).toBe('running-1.1')
    expect(value(await set('running-0.0', other))).toBe('running-1.1')
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    expect(tasks[0]?.state).toBe('working')
  })

  it.each(['paused', '', 7, null, 'suspended-', 'suspended-1.1 '])('refuses %j', async (wrong) => {
    const { set } = await running()
    await expect(set(wrong)).rejects.toMatchObject({ code: -32602 })
  })

  it('of an idle session stays running when a suspension is chosen', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const params = { sessionId, configId: 'run_state', value: 'suspended-0.1' }
    expect(value(await editor.request('session/set_config_option', params))).toBe('running-0.0')
    await expect(
      editor.request('session/set_config_option', { ...params, configId: 'mode' }),
    ).rejects.toMatchObject({ code: -32602, data: { path: 'configId' } })
  })
})

describe('slash commands', () => {
  it('are sent to every client that attaches', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    await newSession(editor)
    await expect
      .poll(() => editor.updates('available_commands_update').at(-1)?.availableCommands)
      .toMatchObject([{ name: 'suspend' }, { name: 'resume' }, { name: 'remind' }])
  })

  it('suspend, remind and resume', async () => {
    const { harness, editor, sessionId, turn } = await running()
    const suspending = editor.request('session/prompt', prompt(sessionId, '/suspend lunch time'))
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull?.suspend?.state)
      .toBe('quiescing')
    expect((await harness.advanceUntil(suspending))._meta.lull.suspend).toMatchObject({
      state: 'suspended',
      reason: 'lunch time',
    })
    await turn.answer
    const noted = await editor.request('session/prompt', prompt(sessionId, '/remind be brief'))
    expect(noted.stopReason).toBe('end_turn')
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    const reminders = await harness.engine.reminders(anyone, tasks[0]?.id ?? '')
    expect(reminders.map(({ body }) => body)).toContain('be brief')
    const resumed = editor.begin('session/prompt', prompt(sessionId, '/resume and be quick'))
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull?.suspend)
      .toMatchObject({ state: 'active', cause: 'explicit_resume', hadResumeInput: true })
    expect((await harness.advanceUntil(resumed.answer))._meta.lull.state).toBe('completed')
    const { history } = await harness.engine.get(anyone, tasks[0]?.id ?? '')
    expect(history.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1)
  })

  it('that fail answer with the reason', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const say = (text: string) => editor.request('session/prompt', prompt(sessionId, text))
    await expect(say('/suspend')).rejects.toMatchObject({ data: { reason: 'not_running' } })
    await expect(say('/resume')).rejects.toMatchObject({ data: { reason: 'not_suspended' } })
    await expect(say('/remind')).rejects.toMatchObject({ code: -32602 })
  })

  it('are only these: any other text goes to the agent', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request('session/prompt', prompt(sessionId, '/suspended?'))
    expect(editor.text()).toBe('/suspended?')
  })
})
