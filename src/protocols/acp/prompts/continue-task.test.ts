/** C1 to C3 of `continue-task.ts`: what a prompt does to a task that is stopped. */
import { describe, expect, it } from 'vitest'
import type { Editor, Loose } from '../test-support/editor.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const ops = [{ step: 'one', ms: 60_000 }, { echo: 'wake' }, { turn: [{ echo: 'messages' }] }]
const rfc = { _meta: { lull: { rfc: true } } }

/** A session whose task has begun its step. */
async function running(capabilities?: Loose) {
  const harness = await openHarness()
  const editor = await harness.editor(capabilities)
  const sessionId = await newSession(editor)
  const prompted = editor.begin('session/prompt', prompt(sessionId, ops))
  const { engine } = harness
  await harness.began('one')
  const taskId = (await engine.list(anyone, { contextId: sessionId })).tasks[0]?.id ?? ''
  const pauseOverA2a = async (reason: string): Promise<void> => {
    // As the A2A adapter calls it.
    await engine.pause(anyone, { taskId, reason, mode: 'interrupt_immediate' })
    await prompted.answer
  }
  const suspend = async (): Promise<void> => {
    await editor.request('_session/suspend', { sessionId, mode: 'interrupt_immediate' })
    await prompted.answer
  }
  const state = async () => (await engine.get(anyone, taskId)).state
  return { harness, editor, sessionId, taskId, pauseOverA2a, suspend, state }
}

const say = (editor: Editor, sessionId: string, text: string): Promise<Loose> =>
  editor.request('session/prompt', prompt(sessionId, text))

describe('a prompt to a stopped task', () => {
  it('C1 wakes a task that was suspended over ACP', async () => {
    const { editor, sessionId, suspend, state } = await running()
    await suspend()
    editor.begin('session/prompt', prompt(sessionId, 'go on'))
    await expect.poll(state).toBe('working')
    await expect
      .poll(() => editor.notifications('_session/resumed'))
      .toMatchObject([{ cause: 'external_event' }])
  })

  it('C1 wakes a task that was suspended over ACP under a hold', async () => {
    const { harness, editor, sessionId, taskId, state } = await running()
    const { engine } = harness
    const operator = { ...anyone, operator: true }
    const { holdId } = await engine.hold(operator, { scope: { taskIds: [taskId] }, reason: 'x' })
    await expect.poll(state).toBe('paused-by-client')
    await editor.request('_session/suspend', { sessionId })
    await engine.lift(operator, holdId)
    editor.begin('session/prompt', prompt(sessionId, 'go on'))
    await expect.poll(state).toBe('working')
  })

  it('C2 is refused under the stop of an operator', async () => {
    const { harness, editor, sessionId, taskId, state } = await running()
    const operator = { ...anyone, operator: true }
    await harness.engine.hold(operator, { scope: { taskIds: [taskId] }, reason: 'x' })
    await expect.poll(state).toBe('paused-by-client')
    await expect(say(editor, sessionId, 'go on')).rejects.toMatchObject({
      code: -32011,
      data: { reason: 'session_held' },
    })
  })

  it("C3 does not lift a coordinator's pause: it is kept, and a sentence says who paused it and what goes on", async () => {
    const { harness, editor, sessionId, taskId, pauseOverA2a, state } = await running()
    await pauseOverA2a('waiting for review')
    const kept = await say(editor, sessionId, 'mind the tests')
    expect(kept).toMatchObject({
      stopReason: 'end_turn',
      _meta: {
        lull: { taskId, suspend: { state: 'suspended', reason: 'waiting for review' } },
        harn: { suspend: { state: 'suspended', initiator: 'client' } },
      },
    })
    expect(editor.text()).toBe(
      'Paused by anonymous: waiting for review. Your message is kept for when the task goes on. `/resume` goes on.',
    )
    expect(await state()).toBe('paused-by-client')

    const resumed = editor.begin('session/prompt', prompt(sessionId, '/resume'))
    await harness.advanceUntil(resumed.answer)
    expect(await state()).toBe('completed')
    const artifacts = editor.updates('agent_message_chunk').map((one) => one.content.resource?.text)
    expect(artifacts.at(-1)).toContain('mind the tests')
  })

  it("C3 lifts no coordinator's pause that the editor asked for once more", async () => {
    const { editor, sessionId, pauseOverA2a, state } = await running()
    await pauseOverA2a('review')
    await editor.request('_session/suspend', { sessionId })
    expect(await say(editor, sessionId, 'go on')).toMatchObject({ stopReason: 'end_turn' })
    expect(await state()).toBe('paused-by-client')
  })

  it.each(['suspended', 'parked'])(
    'C3 of a client that declares the RFC does not wake what is %s: session/resume does',
    async (how) => {
      const harness = await openHarness()
      const editor = await harness.editor(rfc)
      const sessionId = await newSession(editor)
      const first = how === 'parked' ? { park: { reason: 'ci' } } : { step: 'one', ms: 60_000 }
      const prompted = editor.begin('session/prompt', prompt(sessionId, [first, { say: 'on' }]))
      if (how === 'suspended') {
        await harness.began('one')
        await editor.request('session/suspend', { sessionId, mode: 'interrupt_immediate' })
      }
      const { lull } = (await prompted.answer)._meta
      const kept = await say(editor, sessionId, 'hello?')
      expect(kept.stopReason).toBe('end_turn')
      expect(kept._meta.lull.suspend).toEqual(lull.suspend)
      expect(editor.text()).toContain('`session/resume` goes on.')
      expect(editor.updates('resumed')).toEqual([])
      await editor.request('session/resume', { sessionId })
      await expect
        .poll(() => {
          harness.clock.advance(60_000)
          return editor.text()
        })
        .toMatch(/on$/)
      expect(editor.updates('resumed')).toMatchObject([{ cause: 'explicit_resume' }])
    },
  )

  it('C3 that finds the pause lifted meanwhile belongs to the task that goes on', async () => {
    const { harness, editor, sessionId, taskId, pauseOverA2a, state } = await running()
    await pauseOverA2a('review')
    const { engine } = harness
    const { send } = engine
    Object.assign(engine, {
      send: async (...given: Parameters<typeof send>) => {
        const sent = await send(...given)
        await engine.resume(anyone, { taskId })
        return sent
      },
    })
    const answer = await harness.advanceUntil(say(editor, sessionId, 'go on'))
    expect(answer._meta.lull.state).toBe('completed')
    expect(await state()).toBe('completed')
    expect(editor.text()).not.toContain('Paused by')
  })
})
