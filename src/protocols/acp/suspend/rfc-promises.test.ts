/** What the session/suspend RFC promises of stops and wakes, asked for and seen over ACP. */
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import type { Editor, Loose } from '../test-support/editor.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const rfc = { _meta: { lull: { rfc: true } } }
const MINUTE = 60_000

/** A client that declares the RFC, and a prompt whose first step has begun. */
async function begun(ops: readonly unknown[], step: string) {
  const harness = await openHarness()
  const editor = await harness.editor(rfc)
  const sessionId = await newSession(editor)
  const prompted = editor.begin('session/prompt', prompt(sessionId, ops))
  await harness.began(step)
  return { harness, editor, sessionId, prompted }
}

const long = [{ step: 'one', ms: MINUTE }, { echo: 'wake' }, { complete: 'done' }]
const mode = 'interrupt_immediate'

async function suspended(resumeWhen?: Loose) {
  const scene = await begun(long, 'one')
  const { editor, sessionId, prompted } = scene
  const given = resumeWhen === undefined ? {} : { resumeWhen }
  const response = await editor.request('session/suspend', { sessionId, mode, ...given })
  await prompted.answer
  return { ...scene, response }
}

const resumes = (editor: Editor): readonly Loose[] => editor.updates('resumed')
const emit = (harness: Awaited<ReturnType<typeof openHarness>>, type: string) =>
  harness.engine.emit(anyone, [{ id: type, source: 'test', type, specversion: '1.0' } as Loose])

describe('resumeWhen', () => {
  it('absent: no event and no time wakes, session/resume does', async () => {
    const { harness, editor, sessionId } = await suspended()
    await emit(harness, 'ci.passed')
    harness.clock.advance(7 * 24 * 60 * MINUTE)
    const attached = await harness.editor()
    const { _meta } = await attached.request('session/resume', { sessionId, cwd: '/' })
    expect(_meta.lull.suspend.state).toBe('suspended')
    expect(resumes(editor)).toEqual([])
    await editor.request('session/resume', { sessionId })
    await expect.poll(() => resumes(editor)).toMatchObject([{ cause: 'explicit_resume' }])
  })

  it.each([
    ['onEvent', { onEvent: 'ci.passed' }],
    ['trigger', { trigger: { filter: { prefix: { type: 'ci.' } } } }],
  ])('%s: the event wakes', async (_, resumeWhen) => {
    const { harness, editor, response } = await suspended(resumeWhen)
    expect(response.resumeWhen).toEqual(resumeWhen)
    await emit(harness, 'other')
    expect(resumes(editor)).toEqual([])
    await emit(harness, 'ci.passed')
    await expect
      .poll(() => resumes(editor))
      .toMatchObject([{ cause: 'condition_fired', handle: response.handle }])
  })

  it.each([
    [undefined, { hadResumeInput: false, continueTranscript: false }],
    ['resume_with_summary', { hadResumeInput: false, continueTranscript: false }],
    ['resume_with_input', { hadResumeInput: true, continueTranscript: true }],
  ])('timeout with onTimeout %s wakes at the deadline', async (onTimeout, expected) => {
    const timeout = { durationMinutes: 5, ...(onTimeout === undefined ? {} : { onTimeout }) }
    const { harness, editor } = await suspended({ timeout })
    harness.clock.advance(5 * MINUTE - 1)
    expect(resumes(editor)).toEqual([])
    harness.clock.advance(1)
    await expect.poll(() => resumes(editor)).toMatchObject([{ cause: 'timeout', ...expected }])
  })

  it('timeout with onTimeout fail ends the task as failed', async () => {
    const timeout = { durationMinutes: 5, onTimeout: 'fail' }
    const { harness, editor } = await suspended({ timeout })
    harness.clock.advance(5 * MINUTE)
    await expect
      .poll(() => editor.notifications('_session/turn_ended').at(-1)?.error?.message)
      .toContain('deadline')
    expect(resumes(editor)).toEqual([])
  })

  it('timeout counts from the commit, not from the request', async () => {
    const { harness, editor, sessionId, prompted } = await begun(long, 'one')
    const resumeWhen = { timeout: { durationMinutes: 5 } }
    const suspending = editor.request('session/suspend', { sessionId, resumeWhen })
    await expect
      .poll(() => editor.updates('session_info_update').at(-1)?._meta?.lull?.suspend?.state)
      .toBe('quiescing')
    harness.clock.advance(MINUTE)
    const { suspendedAt, _meta } = await suspending
    await prompted.answer
    const { deadlineAt } = _meta.lull.suspend
    expect(Date.parse(deadlineAt) - Date.parse(suspendedAt)).toBe(5 * MINUTE)
    expect(Date.parse(suspendedAt)).toBe(harness.clock.now())
  })
})

describe('mode', () => {
  const tools = [
    { name: 'a', ms: MINUTE },
    { name: 'b', ms: 1 },
  ]
  const ops = [{ turn: [{ tools }, { tool: 'c', ms: 1 }] }, { turn: [{ tool: 'd' }] }]

  it.each([
    ['interrupt_immediate', ['begin a', 'abort a']],
    ['finish_step', ['begin a', 'end a', 'begin b', 'end b']],
    ['wait_for_completion', ['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']],
  ])('%s commits where the RFC or its deviation says', async (mode, ran) => {
    const { harness, editor, sessionId, prompted } = await begun(ops, 'a')
    const suspending = editor.request('session/suspend', { sessionId, mode })
    await expect.poll(() => editor.updates('session_info_update').length).toBeGreaterThan(0)
    if (mode === 'interrupt_immediate') await suspending
    else await harness.advanceUntil(suspending)
    expect(await prompted.answer).toMatchObject({ stopReason: 'end_turn' })
    expect(harness.ran()).toEqual(ran)
  })
})

describe('session/resume', () => {
  const park = { park: { reason: 'ci' } }

  async function parked(...ops: readonly unknown[]) {
    const harness = await openHarness()
    const editor = await harness.editor(rfc)
    const sessionId = await newSession(editor)
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, ops))
    return { harness, editor, sessionId, handle: _meta.lull.suspend.handle as string }
  }
  const lastData = (editor: Editor): Loose =>
    JSON.parse(editor.updates('agent_message_chunk').at(-1)?.content.resource?.text ?? 'null')

  it('passes its input to the park, not to the messages', async () => {
    const { editor, sessionId } = await parked(park, { echo: 'wake' })
    await editor.request('session/resume', { sessionId, input: { go: 1 } })
    await expect.poll(() => lastData(editor)).toMatchObject({ input: { go: 1 } })
    const replayed = await editor.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    expect(replayed).toBeDefined()
    const userUpdates = editor.updates('user_message_chunk').map(({ content }) => content.text)
    expect(userUpdates.some((text) => text?.includes('"go"'))).toBe(false)
  })

  it('with continueTranscript false begins the turn with a digest', async () => {
    const { editor, sessionId } = await parked({ turn: [{ say: 'first words' }] }, park, {
      echo: 'transcript',
    })
    await editor.request('session/resume', { sessionId, continueTranscript: false })
    await expect.poll(() => lastData(editor)?.map(({ role }: Loose) => role)).toEqual(['digest'])
  })

  it('twice at once wakes once; the other answer has the cause of the wake', async () => {
    const { editor, sessionId, handle } = await parked(park, park)
    const wake = () =>
      editor.request('session/resume', { sessionId, handle }).then(
        () => 'woken',
        ({ code, data }: Loose) => ({ code, data }),
      )
    const answers = await Promise.all([wake(), wake()])
    expect(answers.filter((answer) => answer === 'woken')).toHaveLength(1)
    const lost: Loose = answers.find((answer) => answer !== 'woken')
    // The task may have parked again meanwhile; then the handle is an old one.
    expect([-32011, -32012]).toContain(lost.code)
    expect(['not_suspended', 'handle_mismatch']).toContain(lost.data.reason)
    expect(resumes(editor)).toHaveLength(1)
  })

  it('attaches without a wake when only a child is parked', async () => {
    const harness = await openHarness()
    const editor = await harness.editor(rfc)
    const sessionId = await newSession(editor)
    const delegate = { delegate: { script: [park] }, wait: true }
    editor.begin('session/prompt', prompt(sessionId, [delegate]))
    const parkedChildren = async () => {
      const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
      return tasks.filter(({ state }) => state === 'paused-by-agent').length
    }
    await expect.poll(parkedChildren).toBe(1)
    const { _meta } = await editor.request('session/resume', { sessionId })
    expect(_meta.lull.tasks).toHaveLength(2)
    expect(await parkedChildren()).toBe(1)
  })

  it('needs no handle', async () => {
    const { editor, sessionId, handle } = await parked(park)
    await editor.request('session/resume', { sessionId, input: 'x' })
    await expect.poll(() => resumes(editor)).toMatchObject([{ handle }])
  })

  it('after session/close finds nothing to wake: the task was canceled', async () => {
    const { harness, editor, sessionId, handle } = await parked(park)
    await editor.request('session/close', { sessionId })
    const [task] = (await harness.engine.list(anyone, { contextId: sessionId })).tasks
    expect(task?.state).toBe('canceled')
    await expect(editor.request('session/resume', { sessionId, handle })).rejects.toMatchObject({
      data: { reason: 'not_suspended' },
    })
  })
})

it('a suspend and a wake over ACP leave receipts that verify', async () => {
  const { harness, editor, sessionId, response } = await suspended()
  await editor.request('session/resume', { sessionId, handle: response.handle })
  await expect.poll(() => resumes(editor)).toHaveLength(1)
  const taskId = response._meta.lull.taskId as string
  await editor.notify('session/cancel', { sessionId })
  const records: LogRecord[] = []
  for await (const record of await harness.engine.subscribe(anyone, taskId)) records.push(record)
  const kinds = records.flatMap((one) => (one.type === 'receipt' ? [one.receipt.kind] : []))
  expect(kinds).toEqual(['SuspensionReceipt', 'ResumptionReceipt'])
  expect(await harness.engine.verify(anyone, taskId)).toMatchObject({ faults: [] })
})

it('shows the receipts of the latest task of a session, or of the named one', async () => {
  const { harness, editor, sessionId, response } = await suspended()
  await editor.request('session/resume', { sessionId, handle: response.handle })
  await expect.poll(() => resumes(editor)).toHaveLength(1)
  const taskId = response._meta.lull.taskId as string
  await editor.notify('session/cancel', { sessionId })
  await harness.engine.waitFor(anyone, taskId, ({ state }) => state === 'canceled')
  const report = await editor.request('_session/receipts', { sessionId })
  expect(report).toMatchObject({ taskId, verified: true, faults: [] })
  expect(report.receipts.map(({ kind }: Loose) => kind)).toEqual([
    'SuspensionReceipt',
    'ResumptionReceipt',
  ])
  const named = { sessionId, _meta: { lull: { taskId } } }
  expect(await editor.request('_session/receipts', named)).toEqual(report)
  const other = await editor.request('session/new', { cwd: '/work', mcpServers: [] })
  const elsewhere = { sessionId: other.sessionId, _meta: { lull: { taskId } } }
  for (const wrong of [elsewhere, { sessionId: other.sessionId }]) {
    await expect(editor.request('_session/receipts', wrong)).rejects.toMatchObject({ code: -32602 })
  }
})
