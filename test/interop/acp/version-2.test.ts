/** The draft of version 2, with the SDK's client for it: the router answers in the version that is offered. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Any, version2 } from './generations.ts'
import { allow, type Connected, type Harness, openHarness, quiescing, script } from './harness.ts'

let harness: Harness
beforeEach(() => {
  harness = openHarness()
})
afterEach(() => harness.close())

const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }
const steps = [{ step: 'one', ms: 1 }, { step: 'two' }, { complete: 'Done.' }]
/** Snapshots may repeat what is known. */
const states = ({ updates }: Connected): readonly string[] =>
  updates
    .filter(({ update }) => update.sessionUpdate === 'state_update')
    .map(({ update: { state, stopReason } }) => [state, stopReason ?? []].flat().join(' '))
    .filter((state, index, all) => state !== all[index - 1])

describe('version 2', () => {
  async function arrive(): Promise<Connected> {
    const client = harness.connect(version2, { permission: allow })
    const { protocolVersion } = await client.request('initialize', {
      protocolVersion: 2,
      info: { name: 'interop', version: '1' },
      capabilities: {},
    })
    expect(protocolVersion).toBe(2)
    return client
  }
  const prompt = (client: Connected, sessionId: string, ...ops: readonly object[]): Promise<Any> =>
    client.request('session/prompt', { sessionId, prompt: script(...ops) })

  it('tells by its states what a prompt comes to, also when the agent was killed in between', async () => {
    const first = await arrive()
    const { sessionId } = await first.request('session/new', { cwd: harness.cwd })
    const shown = [{ say: 'Looking.' }, { usage: { inputTokens: 3 } }, consent, { step: 'look' }]
    await prompt(first, sessionId, ...shown)
    const asked = ['running', 'requires_action', 'running', 'idle end_turn']
    await expect.poll(() => states(first)).toEqual(asked)

    await prompt(first, sessionId, ...steps)
    await harness.began('one')
    const suspending = first.request('_session/suspend', { sessionId })
    await quiescing(first)
    harness.openGate(1)
    const { handle } = await suspending
    await expect.poll(() => states(first)).toEqual([...asked, 'running', 'idle _suspended'])
    await first.kill()

    const second = await arrive()
    const { _meta } = await second.request('session/resume', { sessionId, cwd: harness.cwd })
    expect(_meta.lull.suspend).toMatchObject({ state: 'suspended', handle })
    expect(states(second), 'the state comes before the answer').toEqual(['idle _suspended'])
    await second.request('_session/wake', { sessionId, handle })
    await expect.poll(() => states(second)).toEqual(['idle _suspended', 'running', 'idle end_turn'])
    expect(['one', 'two'].map(harness.ended)).toEqual([1, 1])
  })
})
