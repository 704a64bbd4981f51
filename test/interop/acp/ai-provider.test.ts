/** The provider for the AI SDK, on SDK 0.14: it knows no resume, so it loads, and a parked task is woken by its prompt. */
import { createACPProvider } from '@mcpc-tech/acp-ai-provider'
import { streamText } from 'ai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { messagesIn } from '../../support/acp-traffic.ts'
import { type Harness, openHarness, said, script } from './harness.ts'

let harness: Harness
beforeEach(() => {
  harness = openHarness()
})
afterEach(() => harness.close())

const words = (...script: readonly object[]): string => JSON.stringify({ script })

describe('the provider for the AI SDK', () => {
  it('loads a session that another client began, and wakes the task that parked in it', async () => {
    const editor = harness.connect('2.4.0')
    await harness.initialize(editor)
    const sessionId = await harness.open(editor)
    const park = { park: { reason: 'CI is running', conditions: { onEvent: 'ci.passed' } } }
    const { stopReason } = await editor.request('session/prompt', {
      sessionId,
      prompt: script({ say: 'Built.' }, { step: 'build' }, park, { complete: 'Shipped.' }),
    })
    expect(stopReason).toBe('end_turn')
    expect(said(editor)).toEqual(['Built.'])
    await editor.kill()

    const [command = '', ...args] = harness.command
    const provider = createACPProvider({
      command,
      args,
      env: harness.env,
      session: { cwd: harness.cwd, mcpServers: [] },
      existingSessionId: sessionId,
    })
    const answer = streamText({ model: provider.languageModel(), prompt: 'It passed.' })
    expect(await answer.text).toBe('Shipped.')
    expect(await answer.finishReason).toBe('stop')
    expect(harness.ended('build')).toBe(1)

    const messages = messagesIn(harness.recordings().at(-1)!)
    const replayed = messages.slice(
      0,
      messages.findIndex(({ method }) => method === 'session/prompt'),
    )
    expect(replayed.map(({ params }) => params?.update?.sessionUpdate).filter(Boolean)).toEqual(
      expect.arrayContaining(['user_message_chunk', 'agent_message_chunk', 'tool_call']),
    )
    expect(replayed.at(-1)?.result).toMatchObject({
      _meta: { lull: { suspend: { state: 'suspended', reason: 'CI is running' } } },
    })
    provider.cleanup()
  })

  it('prompts and is asked for permission', async () => {
    const [command = '', ...args] = harness.command
    const session = { cwd: harness.cwd, mcpServers: [] }
    const provider = createACPProvider({ command, args, env: harness.env, session })
    const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }
    const answer = streamText({
      model: provider.languageModel(),
      prompt: words({ say: 'Looking.' }, { step: 'look' }, consent, { complete: 'Deleted.' }),
    })
    expect(await answer.text).toBe('Looking.Deleted.')
    provider.cleanup()
  })
})
