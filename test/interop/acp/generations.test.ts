/** The same day with every generation of the official SDK as the client: nothing Lull sends may trouble any of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Any, generations } from './generations.ts'
import {
  allow,
  type Connected,
  deny,
  type Harness,
  openHarness,
  quiescing,
  said,
  script,
} from './harness.ts'

let harness: Harness
beforeEach(() => {
  harness = openHarness()
})
afterEach(() => harness.close())

const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }

const plan = { entries: [{ content: 'Look', priority: 'high', status: 'in_progress' }] }
/** Every kind of thing an agent can show. */
const everything = [
  { say: 'Looking.' },
  { step: 'look' },
  { turn: [{ tools: [{ name: 'left' }, { name: 'right' }] }] },
  { artifact: { name: 'plan', data: plan } },
  { artifact: { name: 'text', text: 'toread', chunks: 2 } },
  { artifact: { name: 'facts', data: { seen: ['a'] } } },
  { artifact: { name: 'picture', base64: 'iVBORw0KGgo=', mediaType: 'image/png' } },
  { artifact: { name: 'link', url: 'https://example.org/a.pdf', mediaType: 'application/pdf' } },
  { usage: { inputTokens: 30, outputTokens: 4, costUsd: 0.01 } },
  { delegate: { script: [{ step: 'part' }] }, wait: true },
  { complete: 'Seen.' },
]

describe.each(Object.values(generations))('the SDK client of $version', ({ version, lacks }) => {
  const has = (method: string): boolean => !lacks.includes(method)

  it('initializes, opens, prompts, is asked for permission, cancels', async () => {
    const asked: Any[] = []
    const answers = [allow, deny]
    const client = harness.connect(version, {
      permission: (params) => {
        asked.push(params)
        return answers[asked.length - 1]?.(params) ?? new Promise(() => undefined)
      },
    })
    const { agentCapabilities, protocolVersion } = await harness.initialize(client)
    expect(protocolVersion).toBe(1)
    expect(agentCapabilities).toMatchObject({
      loadSession: true,
      supportsSuspend: true,
      _meta: { lull: { suspend: { version: 1 } } },
    })
    const sessionId = await harness.open(client)

    expect(await prompt(client, sessionId, ...everything)).toMatchObject({ stopReason: 'end_turn' })
    await expect.poll(() => said(client)).toEqual(['Looking.', 'tor', 'ead', 'Seen.'])
    expect(kinds(client)).toEqual(
      expect.arrayContaining(['agent_message_chunk', 'plan', 'tool_call', 'tool_call_update']),
    )

    const granted = await prompt(client, sessionId, consent, { complete: 'Deleted.' })
    expect(granted.stopReason).toBe('end_turn')
    await expect.poll(() => said(client)).toContain('Deleted.')
    await prompt(client, sessionId, consent, { complete: 'Not reached.' })
    expect(asked).toHaveLength(2)
    expect(asked[0].toolCall).toMatchObject({ title: 'Delete it?', rawInput: { delete: 'a' } })

    const long = prompt(client, sessionId, { step: 'long', ms: 1 })
    await harness.began('long')
    await client.notify('session/cancel', { sessionId })
    expect(await long).toMatchObject({ stopReason: 'cancelled' })

    const open = prompt(client, sessionId, consent, { complete: 'Not reached.' })
    await expect.poll(() => asked).toHaveLength(3)
    await client.notify('session/cancel', { sessionId })
    expect(await open).toMatchObject({ stopReason: 'cancelled' })
    expect(said(client)).not.toContain('Not reached.')
  })

  it('finds its sessions after the agent was killed, loads and resumes them', async () => {
    const first = harness.connect(version)
    await harness.initialize(first)
    const sessionId = await harness.open(first)
    await prompt(first, sessionId, { say: 'Hello.' }, { complete: 'Bye.' })
    await first.kill()

    const second = harness.connect(version)
    await harness.initialize(second)
    const { sessions } = await second.request('session/list', {})
    expect(sessions).toMatchObject([{ sessionId, cwd: harness.cwd }])
    await second.request('session/resume', { sessionId, cwd: harness.cwd, mcpServers: [] })
    expect(said(second)).toEqual([])
    await second.request('session/load', { sessionId, cwd: harness.cwd, mcpServers: [] })
    await expect.poll(() => said(second)).toEqual(['Hello.', 'Bye.'])
    const asked = second.updates.filter(
      ({ update }) => update.sessionUpdate === 'user_message_chunk',
    )
    expect(asked).toHaveLength(1)
    await prompt(second, sessionId, { complete: 'Again.' })
    await expect.poll(() => said(second)).toContain('Again.')
    if (has('session/close')) await second.request('session/close', { sessionId })
  })

  it('suspends, is gone while the agent is killed, and wakes', async () => {
    const first = harness.connect(version, { listens: true })
    await harness.initialize(first)
    const sessionId = await harness.open(first)
    const ops = [{ step: 'one' }, { step: 'two', ms: 1 }, { step: 'three' }, { complete: 'Done.' }]
    const prompted = prompt(first, sessionId, ...ops)
    await harness.began('two')
    const suspending = first.request('_session/suspend', { sessionId, reason: 'review' })
    await quiescing(first)
    harness.openGate(1)
    const { handle, suspendedAt, reason } = await suspending
    expect({ reason, suspendedAt }).toEqual({ reason: 'review', suspendedAt: expect.any(String) })
    const { stopReason, _meta } = await prompted
    expect(stopReason).toBe('end_turn')
    expect(_meta.lull.suspend).toMatchObject({ state: 'suspended', handle, reason: 'review' })
    await first.kill()

    const second = harness.connect(version, { listens: true })
    await harness.initialize(second)
    const attached = await second.request('session/resume', {
      sessionId,
      cwd: harness.cwd,
      mcpServers: [],
    })
    expect(attached._meta.lull.suspend).toMatchObject({ state: 'suspended', handle })
    expect(harness.ended('three')).toBe(0)
    const woken = await second.request('_session/wake', { sessionId, handle })
    expect(woken).toMatchObject({ handle, cause: 'explicit_resume', hadResumeInput: false })
    await expect.poll(() => said(second)).toEqual(['Done.'])
    expect(['one', 'two', 'three'].map(harness.ended)).toEqual([1, 1, 1])
  })
})

const kinds = ({ updates }: Connected): readonly string[] =>
  updates.map(({ update }) => update.sessionUpdate)

function prompt(client: Connected, sessionId: string, ...ops: readonly object[]): Promise<Any> {
  return client.request('session/prompt', { sessionId, prompt: script(...ops) })
}
