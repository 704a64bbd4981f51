/** The judge of all other tests here, judged: by the SDK's own example agent, and by what must not pass. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createACPProvider } from '@mcpc-tech/acp-ai-provider'
import { streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../support/acp-schema.ts'
import { generations } from './generations.ts'
import { openHarness, text } from './harness.ts'

const line = (from: 'client' | 'agent', message: object) => ({
  from,
  line: JSON.stringify({ jsonrpc: '2.0', ...message }),
})
const update = (some: object) =>
  line('agent', { method: 'session/update', params: { sessionId: 's', update: some } })
const initialize = line('client', { id: 0, method: 'initialize', params: { protocolVersion: 1 } })
const prompt = line('client', {
  id: 1,
  method: 'session/prompt',
  params: { sessionId: 's', prompt: [] },
})

describe('the schema of the SDK', () => {
  it('lets pass what extensions may do', () => {
    const lines = [
      prompt,
      update({ sessionUpdate: 'session_info_update', _meta: { lull: { any: ['thing'] } } }),
      update({ sessionUpdate: 'tool_call', toolCallId: 'a', title: 'b', rawInput: { any: 1 } }),
      line('agent', { method: '_session/suspended', params: { whatever: 1 } }),
      line('agent', { id: 1, result: { stopReason: 'end_turn', _meta: { a: 1 } } }),
      line('client', { id: 2, method: 'session/suspend', params: { sessionId: 's' } }),
      line('agent', { id: 2, error: { code: -32011, message: 'no', data: { any: 1 } } }),
      initialize,
      line('agent', {
        id: 0,
        result: { protocolVersion: 1, agentCapabilities: { supportsSuspend: true } },
      }),
    ]
    expect(problemsIn(lines)).toEqual([])
  })

  it.each([
    ['an update it does not know', [update({ sessionUpdate: 'suspended', handle: 'h' })]],
    ['an update that lacks a field', [update({ sessionUpdate: 'tool_call', title: 'b' })]],
    [
      'a field of ours at the root of an update',
      [update({ sessionUpdate: 'session_info_update', suspended: true })],
    ],
    [
      'a field of ours at the root of a result',
      [prompt, line('agent', { id: 1, result: { stopReason: 'end_turn', handle: 'h' } })],
    ],
    [
      'an invented stop reason',
      [prompt, line('agent', { id: 1, result: { stopReason: 'suspended' } })],
    ],
    [
      'an invented capability at the root',
      [
        initialize,
        line('agent', { id: 0, result: { protocolVersion: 1, agentCapabilities: { lull: {} } } }),
      ],
    ],
    [
      'a method of the agent without an underscore',
      [line('agent', { id: 1, method: 'session/await_resumption', params: {} })],
    ],
    ['an error without a message', [prompt, line('agent', { id: 1, error: { code: 1 } })]],
    ['an answer nobody asked for', [line('agent', { id: 7, result: {} })]],
    [
      'a second answer',
      [prompt, ...[1, 2].map(() => line('agent', { id: 1, result: { stopReason: 'end_turn' } }))],
    ],
    ['what is not JSON', [{ from: 'agent' as const, line: 'listening on 8787' }]],
  ])('does not let %s pass', (_what, lines) => {
    expect(problemsIn(lines)).toHaveLength(1)
  })
})

describe('the example agent of the SDK', () => {
  // It waits a second at each step, to look busy.
  const hurry = 'data:text/javascript,const t=setTimeout;globalThis.setTimeout=(f)=>t(f,1)'
  const sdk = dirname(createRequire(import.meta.url).resolve('acp-sdk-1-9/schema/schema.json'))
  const command = [process.execPath, '--import', hurry, join(sdk, '../dist/examples/agent.js')]

  it.each(Object.keys(generations))('passes, driven by the client of %s', async (generation) => {
    const harness = openHarness()
    const asked: unknown[] = []
    const permission = (params: { options: { optionId: string }[] }) => {
      asked.push(params)
      return { outcome: { outcome: 'selected', optionId: params.options[0]?.optionId } }
    }
    const client = harness.connect(generation, { permission }, command)
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { sessionId } = await client.request('session/new', { cwd: harness.cwd, mcpServers: [] })
    const { stopReason } = await client.request('session/prompt', { sessionId, prompt: text('hi') })
    expect(stopReason).toBe('end_turn')
    expect(asked).toHaveLength(1)
    expect(client.updates).toHaveLength(7)
    expect(harness.messages().map(({ method }) => method)).toContain('session/request_permission')
    await harness.close()
  })

  it('passes, driven by the provider for the AI SDK', async () => {
    const harness = openHarness()
    const [program = '', ...args] = harness.recorded(command)
    const session = { cwd: harness.cwd, mcpServers: [] }
    const provider = createACPProvider({ command: program, args, session })
    const answer = streamText({
      model: provider.languageModel(),
      prompt: 'hi',
    })
    expect(await answer.text).toContain('Perfect!')
    expect(await answer.finishReason).toBe('stop')
    provider.cleanup()
    await harness.close()
  })
})
