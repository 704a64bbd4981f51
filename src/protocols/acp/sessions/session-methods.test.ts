import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { bob } from '../../../engine/test-support/engine-harness.ts'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'
import type { Loose } from '../test-support/editor.ts'
import { anyone, type Harness, newSession, openHarness, prompt } from '../test-support/harness.ts'

const attach = (sessionId: string) => ({ sessionId, cwd: '/', mcpServers: [] })

async function overA2A(harness: Harness, contextId: string, script: Loose[]): Promise<string> {
  const parts = [{ data: { script } }]
  const message = { messageId: `m-${contextId}`, role: 'ROLE_USER' as const, parts, contextId }
  const sent = await harness.engine.send(anyone, { message, origin: 'a2a' })
  const id = sent.kind === 'task' ? sent.task.id : ''
  await harness.engine.waitFor(anyone, id, (task) => task.state !== 'working')
  return id
}

describe('session/list', () => {
  it('has sessions of editors and contexts of A2A, latest first, with their states', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const mine = await newSession(editor, { cwd: '/mine' })
    harness.clock.advance(1_000)
    await overA2A(harness, 'theirs', [{ park: { reason: 'ci' } }])
    harness.clock.advance(1_000)
    await editor.request('session/prompt', prompt(mine, 'Fix the build\nplease'))
    const { sessions, nextCursor } = await editor.request('session/list', {})
    expect(nextCursor).toBeUndefined()
    expect(sessions).toMatchObject([
      {
        sessionId: mine,
        cwd: '/mine',
        title: 'Fix the build',
        updatedAt: '2026-01-01T00:00:02.000Z',
        _meta: { lull: { tasks: [] } },
      },
      {
        sessionId: 'theirs',
        cwd: '/home',
        _meta: { lull: { suspend: { state: 'suspended', reason: 'ci' } }, harn: { suspend: {} } },
      },
    ])
    const filtered = await editor.request('session/list', { cwd: '/mine' })
    expect(filtered.sessions).toHaveLength(1)
  })

  it('lists every session once across pages, of any kind', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const made: string[] = []
    for (let n = 0; n < 70; n++) {
      if (n % 3 === 0) harness.clock.advance(10)
      if (n % 2 === 0) made.push(await newSession(editor))
      else {
        await overA2A(harness, `context-${n}`, [{ say: 'x' }])
        made.push(`context-${n}`)
      }
    }
    // A context with many tasks is one session still.
    for (let n = 0; n < 5; n++) {
      harness.clock.advance(1)
      await harness.engine.send(anyone, {
        message: {
          messageId: `n-${n}`,
          role: 'ROLE_USER',
          parts: [{ text: 'x' }],
          contextId: 'context-1',
        },
      })
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await editor.request('session/list', cursor === undefined ? {} : { cursor })
      expect(page.sessions.length).toBeLessThanOrEqual(50)
      seen.push(...page.sessions.map(({ sessionId }: Loose) => sessionId))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen[0]).toBe('context-1')
    expect([...seen].sort()).toEqual([...made].sort())
  })

  it('continues after more contexts of one instant than fit on a page', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const made = Array.from({ length: 110 }, (_, n) => `context-${n}`)
    for (const contextId of made) await overA2A(harness, contextId, [{ say: 'x' }])
    const seen: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages === 0 || (cursor !== undefined && pages < 5); pages++) {
      const page = await editor.request('session/list', cursor === undefined ? {} : { cursor })
      seen.push(...page.sessions.map(({ sessionId }: Loose) => sessionId))
      cursor = page.nextCursor
    }
    expect(cursor).toBeUndefined()
    expect([...seen].sort()).toEqual([...made].sort())
  })

  it('does not show sessions of other callers', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request('session/prompt', prompt(sessionId, 'x'))
    const other = await harness.editor({}, bob)
    expect((await other.request('session/list', {})).sessions).toEqual([])
    for (const [method, params] of [
      ['session/load', attach(sessionId)],
      ['session/resume', attach(sessionId)],
      ['session/prompt', prompt(sessionId, 'x')],
      ['session/close', { sessionId }],
      ['_session/suspend', { sessionId }],
      ['_session/wake', { sessionId }],
      ['_session/remind', { sessionId, body: 'x' }],
      ['_session/steering', { sessionId, prompt: [{ type: 'text', text: 'x' }] }],
      ['session/set_config_option', { sessionId, configId: 'run_state', value: 'running-1.0' }],
    ] as const) {
      await expect(other.request(method, params), method).rejects.toMatchObject({
        code: -32002,
        data: { sessionId },
      })
    }
    await other.notify('session/cancel', { sessionId })
    expect(await other.request('session/delete', { sessionId })).toEqual({})
    expect((await editor.request('session/list', {})).sessions).toHaveLength(1)
  })

  it('refuses an invalid cursor', async () => {
    const editor = await (await openHarness()).editor()
    await expect(editor.request('session/list', { cursor: 'x' })).rejects.toMatchObject({
      code: -32602,
      data: { path: 'cursor' },
    })
  })
})

describe('session/load', () => {
  const ops = [
    { say: 'one' },
    { step: 'build', ms: 0 },
    { artifact: { name: 'a.txt', text: 'AAA', chunks: 2 } },
    { usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.5 } },
    { park: { reason: 'ci' } },
    { ask: 'go?' },
    { complete: 'done' },
  ]
  const told = (updates: readonly Loose[]) =>
    updates.filter(
      ({ sessionUpdate: kind, title }) =>
        kind !== 'config_option_update' && kind !== 'available_commands_update' && title !== 'x',
    )

  it('replays everything as it was shown, in another process', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request('session/prompt', prompt(sessionId, ops))
    await editor.request('session/prompt', prompt(sessionId, 'wake up'))
    await editor.request('session/prompt', prompt(sessionId, 'yes'))
    const again = await harness.restart()
    const other = await again.editor()
    await other.request('session/load', attach(sessionId))
    const userUpdates = other.updates('user_message_chunk').map(({ content }) => content.text)
    expect(userUpdates.slice(1)).toEqual(['wake up', 'yes'])
    const live = told(editor.updates()).filter((one) => one.title === undefined || one.toolCallId)
    const replayed = told(other.updates()).filter(
      ({ sessionUpdate }) => sessionUpdate !== 'user_message_chunk',
    )
    expect(replayed).toEqual(live)
  })

  it('shows a stop that has not ended, and continues live', async () => {
    const harness = await openHarness()
    const taskId = await overA2A(harness, 'theirs', [
      { say: 'a' },
      { park: { reason: 'ci' } },
      { say: 'b' },
    ])
    const editor = await harness.editor()
    const { _meta, configOptions } = await editor.request('session/load', attach('theirs'))
    expect(editor.updates('tool_call').at(-1)).toMatchObject({ status: 'in_progress' })
    expect(editor.text()).toBe('a')
    expect(_meta.lull).toMatchObject({ suspend: { state: 'suspended' }, tasks: [{ taskId }] })
    expect(configOptions[0]).toMatchObject({ id: 'run_state', currentValue: 'suspended-1.1' })
    await harness.engine.resume(anyone, { taskId })
    await expect.poll(() => editor.text()).toBe('ab')
    expect(editor.updates('tool_call_update').at(-1)).toMatchObject({ status: 'completed' })
  })

  it('replays what an agent answered without a task', async () => {
    const guide = agent({
      name: 'guide',
      description: 'Talks',
      receive: (_message, { reply }) => reply('Hello!'),
    })
    const harness = await openHarness({ agents: [guide] })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const { stopReason } = await editor.request('session/prompt', prompt(sessionId, 'Hi'))
    expect(stopReason).toBe('end_turn')
    expect(editor.text()).toBe('Hello!')
    const other = await harness.editor()
    await other.request('session/load', attach(sessionId))
    const words = other.received.flatMap(({ params }) => params?.update?.content?.text ?? [])
    expect(words).toEqual(['Hi', 'Hello!'])
  })

  it('shows a task that ends meanwhile once', async () => {
    const memory = createMemoryStore()
    let meanwhile = async (): Promise<void> => undefined
    const store: Store = {
      ...memory,
      list: async (query) => {
        if (query.states?.includes('completed')) await meanwhile()
        return memory.list(query)
      },
    }
    const harness = await openHarness({ store })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const ops = [{ say: 'one' }, { park: { reason: 'x' } }, { say: 'two' }]
    const { _meta } = await editor.request('session/prompt', prompt(sessionId, ops))
    const { taskId, suspend } = _meta.lull
    meanwhile = async () => {
      meanwhile = async () => undefined
      await harness.engine.resume(anyone, { taskId, handle: suspend.handle })
      await harness.engine.waitFor(anyone, taskId, ({ state }) => state === 'completed')
      const parts = [{ text: JSON.stringify({ script: [{ say: 'three' }] }) }]
      const message = { messageId: 'm', role: 'ROLE_USER' as const, parts, contextId: sessionId }
      const sent = await harness.engine.send(anyone, { message, origin: 'a2a' })
      const id = sent.kind === 'task' ? sent.task.id : ''
      await harness.engine.waitFor(anyone, id, ({ state }) => state === 'completed')
    }
    const other = await harness.editor()
    await other.request('session/load', attach(sessionId))
    await other.request('session/prompt', prompt(sessionId, [{ say: 'four' }]))
    await expect.poll(() => [...other.text().matchAll(/one|two|three|four/g)].length).toBe(4)
    for (const word of ['one', 'two', 'three', 'four']) expect(other.text()).toContain(word)
  })

  it('twice on one connection does not double what follows', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request('session/load', attach(sessionId))
    await editor.request('session/resume', attach(sessionId))
    await editor.request('session/prompt', prompt(sessionId, [{ say: 'once' }]))
    expect(editor.text()).toBe('once')
  })
})

describe('session/resume', () => {
  it('without further parameters attaches, replays nothing and wakes nothing', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request(
      'session/prompt',
      prompt(sessionId, [{ say: 'x' }, { park: { reason: 'ci' } }]),
    )
    const other = await harness.editor()
    for (let n = 0; n < 3; n++) {
      const { _meta } = await other.request('session/resume', attach(sessionId))
      expect(_meta.lull.suspend).toMatchObject({ state: 'suspended', reason: 'ci' })
    }
    expect(other.text()).toBe('')
    const { tasks } = await harness.engine.list(anyone, { contextId: sessionId })
    expect(tasks[0]?.state).toBe('paused-by-agent')
  })

  it('shows a running turn that another connection began', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const turn = editor.begin(
      'session/prompt',
      prompt(sessionId, [{ step: 's', ms: 50 }, { say: 'both' }]),
    )
    const other = await harness.editor()
    await expect
      .poll(async () => (await other.request('session/resume', attach(sessionId)))._meta.lull.tasks)
      .toHaveLength(1)
    await harness.advanceUntil(turn.answer)
    await expect.poll(() => other.text()).toBe('both')
    await expect.poll(() => other.notifications('_session/turn_ended')).toHaveLength(1)
    expect(editor.notifications('_session/turn_ended')).toEqual([])
  })
})

describe('a prompt of another connection', () => {
  it('is sent to every client except its sender', async () => {
    const harness = await openHarness()
    const one = await harness.editor()
    const two = await harness.editor()
    const sessionId = await newSession(one)
    await two.request('session/resume', attach(sessionId))
    await one.request('session/prompt', prompt(sessionId, 'hello'))
    await expect
      .poll(() => two.updates('user_message_chunk').map(({ content }) => content.text))
      .toEqual(['hello'])
    expect(one.updates('user_message_chunk')).toEqual([])
  })
})

describe('session/close and session/delete', () => {
  it('cancel the tasks of prompts, parked or running, and keep the session readable', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    const { _meta } = await editor.request(
      'session/prompt',
      prompt(sessionId, [{ park: { reason: 'x' } }]),
    )
    await editor.request('session/close', { sessionId })
    expect((await harness.engine.get(anyone, _meta.lull.taskId)).state).toBe('canceled')
    expect((await editor.request('session/list', {})).sessions).toHaveLength(1)
    await editor.request('session/load', attach(sessionId))
  })

  it('delete removes the session and its context from the list permanently', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    await overA2A(harness, 'theirs', [{ say: 'x' }])
    const mine = await newSession(editor)
    const turn = editor.begin('session/prompt', prompt(mine, [{ step: 'long', ms: 60_000 }]))
    await editor.request('session/delete', { sessionId: mine })
    expect(await turn.answer).toMatchObject({ stopReason: 'cancelled' })
    await editor.request('session/delete', { sessionId: 'theirs' })
    expect((await editor.request('session/list', {})).sessions).toEqual([])
    await expect(editor.request('session/load', attach(mine))).rejects.toMatchObject({
      code: -32002,
    })
  })

  it('delete stays when another process changes the session at the same time', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined
    const inner = createMemoryStore()
    const slow: Store = {
      ...inner,
      async replaceSession(...given) {
        await meanwhile?.()
        return inner.replaceSession(...given)
      },
    }
    const [one, two] = [await openHarness({ store: inner }), await openHarness({ store: slow })]
    const [here, there] = [await one.editor(), await two.editor()]
    const sessionId = await newSession(here)
    meanwhile = () => here.request('session/delete', { sessionId })
    const reminded = there.request('_session/remind', { sessionId, body: 'x' })
    await expect(reminded).rejects.toMatchObject({ code: -32002 })
    expect((await here.request('session/list', {})).sessions).toEqual([])
  })

  it('delete of a session that was deleted, or never existed, succeeds', async () => {
    const harness = await openHarness()
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    expect(await editor.request('session/delete', { sessionId })).toEqual({})
    expect(await editor.request('session/delete', { sessionId })).toEqual({})
    expect(await editor.request('session/delete', { sessionId: 'never' })).toEqual({})
  })
})

describe('several agents', () => {
  const loud = agent({
    name: 'loud',
    description: 'Shouts',
    run: (task) => task.text.toUpperCase(),
  })

  it('are chosen when a session begins, or later', async () => {
    const script = createScriptAgent({ effects: () => undefined as never })
    const harness = await openHarness({ agents: [script, loud] })
    const editor = await harness.editor()
    const _meta = { lull: { agent: 'loud' } }
    const { sessionId, configOptions } = await editor.request('session/new', {
      cwd: '/',
      mcpServers: [],
      _meta,
    })
    expect(configOptions[1]).toMatchObject({ id: 'agent', currentValue: 'loud' })
    await editor.request('session/prompt', prompt(sessionId, 'hey'))
    expect(editor.text()).toBe('HEY')
    const set = (value: string) =>
      editor.request('session/set_config_option', { sessionId, configId: 'agent', value })
    expect((await set('script')).configOptions[1]).toMatchObject({ currentValue: 'script' })
    await editor.request('session/prompt', prompt(sessionId, [{ say: ' and quiet' }]))
    expect(editor.text()).toBe('HEY and quiet')
    await expect(set('nobody')).rejects.toMatchObject({ code: -32602, data: { path: 'value' } })
    const wrong = { cwd: '/', mcpServers: [], _meta: { lull: { agent: 'nobody' } } }
    await expect(editor.request('session/new', wrong)).rejects.toMatchObject({
      data: { path: '_meta.lull.agent' },
    })
  })
})
