/** The draft of version 2, spoken to with the official client of it. */
import * as sdk from '@agentclientprotocol/sdk/experimental/v2'
import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import type { Loose } from '../test-support/editor.ts'
import { type Harness, openHarness, prompt } from '../test-support/harness.ts'

async function open(harness: Harness, capabilities: Loose = {}) {
  const updates: Loose[] = []
  const asked: Loose[] = []
  const app = sdk
    .client({ name: 'test' })
    .onNotification('session/update', ({ params }) => {
      updates.push(params.update)
    })
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params)
      return { outcome: { outcome: 'selected', optionId: 'allow' } }
    })
  const { agent, close } = app.connect(harness.wire())
  const initialized = await agent.request('initialize', {
    protocolVersion: 2,
    info: { name: 'test', version: '1' },
    capabilities,
  })
  const states = () =>
    updates
      .filter(({ sessionUpdate }) => sessionUpdate === 'state_update')
      .map(({ state, stopReason }) => (stopReason == null ? state : `${state} ${stopReason}`))
  return { agent, close, updates, asked, initialized, states }
}

describe('version 2', () => {
  it('is used with clients that offer it, and version 1 with all others', async () => {
    const harness = await openHarness()
    const { initialized } = await open(harness)
    expect(initialized).toMatchObject({
      protocolVersion: 2,
      info: { name: 'test-agent' },
      capabilities: { _meta: { lull: { suspend: { version: 1 } } } },
    })
    const old = await harness.connect().request('initialize', { protocolVersion: 1 })
    expect(old.protocolVersion).toBe(1)
    const newer = await harness.connect().request('initialize', { protocolVersion: 7 })
    expect(newer.protocolVersion).toBe(2)
  })

  it('answers a prompt when it is inserted, and reports its progress by the state', async () => {
    const harness = await openHarness()
    const { agent, updates, states } = await open(harness)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    const ops = [{ say: 'hi' }, { park: { reason: 'ci' } }, { say: 'on' }]
    const { messageId } = await agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(states).toEqual(['running', 'idle _suspended'])
    const kinds = updates.map(({ sessionUpdate }) => sessionUpdate)
    expect(kinds).not.toContain('tool_call')
    expect(
      updates.find(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk'),
    ).toMatchObject({ messageId })
    await agent.request('session/prompt', prompt(sessionId, 'go'))
    await expect.poll(states).toEqual(['running', 'idle _suspended', 'running', 'idle end_turn'])
  })

  it.each([
    [[{ fail: 'no' }], 'idle error'],
    [[{ reject: 'no' }], 'idle refusal'],
    [[{ ask: '?' }], 'idle end_turn'],
  ])('%j ends as %s', async (ops, expected) => {
    const harness = await openHarness()
    const { agent, states } = await open(harness)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    await agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(() => states().at(-1)).toBe(expected)
  })

  it.each([
    ['a reply without a task', 'hello', 'hello'],
    ['a slash command', '/remind be brief', 'Noted for the next turn.'],
  ])('%s is echoed, answered, and ends idle', async (_, text, answer) => {
    const replies = agent({
      name: 'replies',
      description: 'Replies without a task',
      receive: (message, { reply }) => reply(message.parts),
      run: () => 'never',
    })
    const harness = await openHarness({ agents: [replies] })
    const { agent: client, updates, states } = await open(harness)
    const { sessionId } = await client.request('session/new', { cwd: '/' })
    const { messageId } = await client.request('session/prompt', prompt(sessionId, text))
    await expect.poll(states).toEqual(['running', 'idle end_turn'])
    const told = updates.filter(({ sessionUpdate }) =>
      /^(user|agent)_message_chunk$|^state_update$/.test(sessionUpdate),
    )
    expect(told).toMatchObject([
      { sessionUpdate: 'user_message_chunk', messageId, content: { text } },
      { state: 'running' },
      { sessionUpdate: 'agent_message_chunk', content: { text: answer } },
      { state: 'idle' },
    ])
  })

  it('slash commands about a task are echoed once and end idle, also those that change nothing', async () => {
    const harness = await openHarness()
    const { agent, updates, states } = await open(harness)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    const long = [{ step: 'long', ms: 60_000 }, { park: { reason: 'ci' } }]
    await agent.request('session/prompt', prompt(sessionId, long))
    await agent.request('_session/suspend', { sessionId, mode: 'interrupt_immediate' })
    await expect.poll(states).toEqual(['running', 'idle _suspended'])
    const { messageId } = await agent.request('session/prompt', prompt(sessionId, '/suspend again'))
    await expect.poll(states).toHaveLength(4)
    expect(states().slice(2)).toEqual(['running', 'idle _suspended'])
    await agent.request('session/prompt', prompt(sessionId, '/resume'))
    await expect
      .poll(() => {
        harness.clock.advance(60_000)
        return states().slice(4)
      })
      .toEqual(['running', 'idle _suspended'])
    const echoes = updates.filter(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')
    expect(echoes.slice(1)).toMatchObject([
      { messageId, content: { text: '/suspend again' } },
      { content: { text: '/resume' } },
    ])
  })

  it('a prompt that is cancelled before it is inserted is answered as cancelled', async () => {
    const harness = await openHarness()
    const { agent } = await open(harness)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    await agent.request('session/prompt', prompt(sessionId, [{ step: 'long', ms: 60_000 }]))
    const queued = agent.request('session/prompt', prompt(sessionId, 'next'))
    await agent.notify('session/cancel', { sessionId })
    await expect(queued).rejects.toMatchObject({ code: -32800 })
  })

  it('closes and deletes a session that does not exist', async () => {
    const harness = await openHarness()
    const { agent } = await open(harness)
    expect(await agent.request('session/close', { sessionId: 'none' })).toEqual({})
    expect(await agent.request('session/delete', { sessionId: 'none' })).toEqual({})
  })

  it('asks for consent, with the state requires_action', async () => {
    const harness = await openHarness()
    const { agent, asked, states } = await open(harness)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    const ops = [{ consent: { prompt: 'Push?', operation: { push: 'main' } } }, { complete: 'x' }]
    await agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(states).toEqual(['running', 'requires_action', 'running', 'idle end_turn'])
    expect(asked).toMatchObject([
      { title: 'Push?', subject: { type: 'tool_call', toolCall: { rawInput: { push: 'main' } } } },
    ])
  })

  it('resumes with the state first, and replays only from the start, on request', async () => {
    const harness = await openHarness()
    const first = await open(harness)
    const { sessionId } = await first.agent.request('session/new', { cwd: '/' })
    const ops = [{ say: 'hi' }, { park: { reason: 'ci' } }]
    await first.agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(first.states).toEqual(['running', 'idle _suspended'])

    const second = await open(harness)
    const answer = await second.agent.request('session/resume', { sessionId, cwd: '/' })
    expect(second.states().at(-1)).toBe('idle _suspended')
    expect(answer).toMatchObject({
      configOptions: [{ configId: 'run_state' }],
      availableCommands: [{ type: 'command', name: 'suspend' }, {}, {}],
      _meta: { lull: { suspend: { state: 'suspended' } } },
    })
    expect(second.updates.map((one) => one.content?.text)).not.toContain('hi')
    const replayFrom = { type: 'start' as const }
    await second.agent.request('session/resume', { sessionId, cwd: '/', replayFrom })
    expect(second.updates.map((one) => one.content?.text)).toContain('hi')
    await expect(
      second.agent.request('session/resume', {
        sessionId,
        cwd: '/',
        replayFrom: { type: '_elsewhere' },
      }),
    ).rejects.toMatchObject({ code: -32602 })
  })

  it('suspends by the method of Lull and by the option, and cancels', async () => {
    const harness = await openHarness()
    const { agent, states } = await open(harness)
    const { sessionId, configOptions } = await agent.request('session/new', { cwd: '/' })
    expect(configOptions?.[0]).toMatchObject({ configId: 'run_state', currentValue: 'running-0.0' })
    const ops = [{ step: 'long', ms: 60_000 }]
    await agent.request('session/prompt', prompt(sessionId, ops))
    const mode = 'interrupt_immediate'
    await agent.request('_session/suspend', { sessionId, mode })
    await expect.poll(states).toEqual(['running', 'idle _suspended'])
    const answer = await agent.request('session/set_config_option', {
      sessionId,
      configId: 'run_state',
      type: 'id',
      value: 'running-1.1',
    })
    expect(answer.configOptions[0]).toMatchObject({ currentValue: 'running-1.1' })
    await agent.notify('session/cancel', { sessionId })
    await expect.poll(() => states().at(-1)).toBe('idle cancelled')
  })
})
