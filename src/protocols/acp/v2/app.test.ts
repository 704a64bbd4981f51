/** The draft of version 2, spoken to with the official client of it. */
import * as sdk from '@agentclientprotocol/sdk/experimental/v2'
import { describe, expect, it } from 'vitest'
import type { Loose } from '../test-support/editor.ts'
import { openStudio, prompt, type Studio } from '../test-support/studio.ts'

async function open(studio: Studio, capabilities: Loose = {}) {
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
  const { agent, close } = app.connect(studio.wire())
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
  it('is spoken with whoever offers it, and version 1 with everybody else', async () => {
    const studio = await openStudio()
    const { initialized } = await open(studio)
    expect(initialized).toMatchObject({
      protocolVersion: 2,
      info: { name: 'studio' },
      capabilities: { _meta: { lull: { suspend: { version: 1 } } } },
    })
    const old = await studio.connect().request('initialize', { protocolVersion: 1 })
    expect(old.protocolVersion).toBe(1)
    const newer = await studio.connect().request('initialize', { protocolVersion: 7 })
    expect(newer.protocolVersion).toBe(2)
  })

  it('answers a prompt when it is inserted, and tells by the state how it goes on', async () => {
    const studio = await openStudio()
    const { agent, updates, states } = await open(studio)
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
    const studio = await openStudio()
    const { agent, states } = await open(studio)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    await agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(() => states().at(-1)).toBe(expected)
  })

  it('asks for consent, and says that it waits for it', async () => {
    const studio = await openStudio()
    const { agent, asked, states } = await open(studio)
    const { sessionId } = await agent.request('session/new', { cwd: '/' })
    const ops = [{ consent: { prompt: 'Push?', operation: { push: 'main' } } }, { complete: 'x' }]
    await agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(states).toEqual(['running', 'requires_action', 'running', 'idle end_turn'])
    expect(asked).toMatchObject([
      { title: 'Push?', subject: { type: 'tool_call', toolCall: { rawInput: { push: 'main' } } } },
    ])
  })

  it('resumes with the state first, replays from the start when asked, and from nowhere else', async () => {
    const studio = await openStudio()
    const first = await open(studio)
    const { sessionId } = await first.agent.request('session/new', { cwd: '/' })
    const ops = [{ say: 'hi' }, { park: { reason: 'ci' } }]
    await first.agent.request('session/prompt', prompt(sessionId, ops))
    await expect.poll(first.states).toEqual(['running', 'idle _suspended'])

    const second = await open(studio)
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

  it('suspends by our method and by the option, and cancels', async () => {
    const studio = await openStudio()
    const { agent, states } = await open(studio)
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
