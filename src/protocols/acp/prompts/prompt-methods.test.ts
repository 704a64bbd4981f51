import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

describe('a prompt', () => {
  it('on an idle session is a task of its context, and ends the turn when the task is done', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const { stopReason, _meta } = await editor.request(
      'session/prompt',
      prompt(sessionId, [{ say: 'one ' }, { artifact: { name: 'a', text: 'two' } }]),
    )
    expect(stopReason).toBe('end_turn')
    expect(editor.text()).toBe('one two')
    const task = await harness.engine.get(anyone, _meta.lull.taskId)
    expect(task).toMatchObject({ contextId: sessionId, state: 'completed', origin: 'acp' })
  })

  it.each([
    [[{ complete: 'x' }], 'end_turn'],
    [[{ reject: 'no' }], 'refusal'],
    [[{ park: { reason: 'ci' } }], 'end_turn'],
    [[{ ask: '?' }], 'end_turn'],
  ])('ends as the task does: %j is %s', async (ops, expected) => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const { stopReason } = await editor.request('session/prompt', prompt(sessionId, ops))
    expect(stopReason).toBe(expected)
  })

  it('that fails is an error with the reason and the task', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await expect(
      editor.request('session/prompt', prompt(sessionId, [{ fail: 'broken' }])),
    ).rejects.toMatchObject({ code: -32603, message: 'broken', data: { reason: 'failed' } })
  })

  it('on a question is its answer', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const asked = await editor.request(
      'session/prompt',
      prompt(sessionId, [{ ask: 'which?' }, { echo: 'input' }]),
    )
    const answered = await editor.request('session/prompt', prompt(sessionId, 'this'))
    expect(answered._meta.lull).toMatchObject({
      taskId: asked._meta.lull.taskId,
      state: 'completed',
    })
    expect(editor.updates('agent_message_chunk').at(-1).content.resource.text).toContain('this')
  })

  it('on a parked session wakes it with the prompt as message', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const parked = await editor.request(
      'session/prompt',
      prompt(sessionId, [{ park: { reason: 'ci' } }, { echo: 'wake' }, { echo: 'messages' }]),
    )
    expect(parked._meta.lull.suspend).toMatchObject({ state: 'suspended', initiator: 'agent' })
    const woken = await editor.request('session/prompt', prompt(sessionId, 'go on'))
    expect(woken._meta.lull).toMatchObject({ taskId: parked._meta.lull.taskId, state: 'completed' })
    expect(woken._meta.lull.suspend).toMatchObject({ state: 'active', cause: 'external_event' })
    const echoes = editor.updates('agent_message_chunk').map((one) => one.content.resource?.text)
    expect(echoes.at(-1)).toContain('go on')
  })

  it('right after a cancel finds an idle session, not the task that is being canceled', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const parked = await editor.request(
      'session/prompt',
      prompt(sessionId, [{ park: { reason: 'ci' } }, { complete: 'woken' }]),
    )
    const canceling = editor.notify('session/cancel', { sessionId })
    const next = await editor.request('session/prompt', prompt(sessionId, [{ complete: 'next' }]))
    await canceling
    expect(next).toMatchObject({ stopReason: 'end_turn' })
    expect(next._meta.lull.taskId).not.toBe(parked._meta.lull.taskId)
    expect(editor.text()).toBe('next')
    const { state } = await harness.engine.get(anyone, parked._meta.lull.taskId)
    expect(state).toBe('canceled')
  })

  it('is queued while another one runs, first in first out', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const first = editor.request('session/prompt', prompt(sessionId, [{ park: { reason: 'x' } }]))
    await first
    const done: string[] = []
    const running = editor
      .request('session/prompt', prompt(sessionId, 'wake'))
      .then(() => done.push('woken'))
    const second = editor
      .request('session/prompt', prompt(sessionId, [{ say: 'second' }]))
      .then(() => done.push('second'))
    const third = editor
      .request('session/prompt', prompt(sessionId, [{ say: 'third' }]))
      .then(() => done.push('third'))
    await Promise.all([running, second, third])
    expect(done).toEqual(['woken', 'second', 'third'])
    expect(editor.text()).toBe('secondthird')
  })
})

describe('session/cancel', () => {
  it('cancels the task and every queued prompt', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const running = editor.request(
      'session/prompt',
      prompt(sessionId, [{ say: 'at it' }, { step: 'long', ms: 60_000 }]),
    )
    await expect.poll(() => editor.text()).toBe('at it')
    const waiting = editor.request('session/prompt', prompt(sessionId, 'next'))
    await editor.notify('session/cancel', { sessionId })
    expect(await running).toMatchObject({ stopReason: 'cancelled' })
    expect(await waiting).toMatchObject({ stopReason: 'cancelled' })
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    expect(tasks.map(({ state }) => state)).toEqual(['canceled'])
  })
})

describe('an agent whose receive takes long', () => {
  it.each(['session/cancel', 'session/close'])('does not delay %s', async (method) => {
    let decide: () => void = () => undefined
    const decided = new Promise<undefined>((resolve) => {
      decide = () => resolve(undefined)
    })
    let asked = false
    const slow = agent({
      name: 'slow',
      description: 'Thinks first',
      receive: () => {
        asked = true
        return decided
      },
      run: (task) => task.park({ reason: 'x' }).then(() => 'done'),
    })
    const harness = await openHarness({ agents: [slow] })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const turn = editor.begin('session/prompt', prompt(sessionId, 'x'))
    await expect.poll(() => asked).toBe(true)
    if (method === 'session/cancel') await editor.notify(method, { sessionId })
    else await editor.request(method, { sessionId })
    expect(await turn.answer).toMatchObject({ stopReason: 'cancelled' })
    decide()
    const tasks = async () => (await harness.engine.list(anyone, { contextId: sessionId })).tasks
    await expect.poll(async () => (await tasks()).map(({ state }) => state)).toEqual(['canceled'])
  })
})

describe('a task that cannot be followed', () => {
  /** So many attempts to follow a task fail. */
  async function failing(times: number) {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    let left = times
    const { follow } = harness.engine
    Object.assign(harness.engine, {
      follow: async (...given: Parameters<typeof follow>) => {
        if (left-- > 0) throw new Error('the disk is away')
        return follow(...given)
      },
    })
    return { editor, sessionId }
  }

  it('for a moment is followed again', async () => {
    const { editor, sessionId } = await failing(1)
    const answer = await editor.request('session/prompt', prompt(sessionId, [{ say: 'once' }]))
    expect(answer).toMatchObject({ stopReason: 'end_turn' })
    expect(editor.text()).toBe('once')
  })

  it('at all ends the turn with an error, and the session can be closed', async () => {
    const { editor, sessionId } = await failing(Number.POSITIVE_INFINITY)
    await expect(
      editor.request('session/prompt', prompt(sessionId, [{ park: { reason: 'x' } }])),
    ).rejects.toMatchObject({ code: -32603, message: expect.stringContaining('lost sight') })
    expect(await editor.request('session/close', { sessionId })).toEqual({})
  })
})

describe('a lost connection', () => {
  it('only detaches: the task goes on, and another editor finds it', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    editor.begin('session/prompt', prompt(sessionId, [{ step: 'long', ms: 50 }, { say: 'done' }]))
    await expect
      .poll(async () => (await harness.engine.list(anyone, { contextId: sessionId })).total)
      .toBe(1)
    await editor.close()
    const other = await harness.editor()
    await other.request('session/load', { sessionId, cwd: '/work', mcpServers: [] })
    await expect
      .poll(() => {
        harness.clock.advance(50)
        return other.text()
      })
      .toBe('done')
  })
})
