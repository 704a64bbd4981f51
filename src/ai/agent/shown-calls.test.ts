/** Text and tool calls of an `aiAgent` as an editor sees them, while the tools run. */
import { tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { signal } from '../../engine/test-support/engine-harness.ts'
import { newSession, openHarness, prompt } from '../../protocols/acp/test-support/harness.ts'
import { scriptedModel } from '../test-support/mock-model.ts'
import { aiAgent } from './ai-agent.ts'

it('a tool call appears in the editor when it starts, and its result completes it', async () => {
  const begun = signal()
  const end = signal()
  const { model } = scriptedModel((turn) =>
    turn === 0
      ? {
          text: 'I look. ',
          calls: [
            { tool: 'slow', input: { q: 'one' }, id: 'a' },
            { tool: 'slow', input: { q: 'two' }, id: 'b' },
          ],
        }
      : { text: 'Found.' },
  )
  const slow = tool({
    inputSchema: z.object({ q: z.string() }),
    execute: async ({ q }) => {
      begun.fire()
      await end.promise
      return q
    },
  })
  const worker = aiAgent({ name: 'worker', description: 'works', model, tools: { slow } })
  const harness = await openHarness({ agents: [worker] })
  const editor = await harness.editor()
  const turn = editor.request('session/prompt', prompt(await newSession(editor), 'go'))
  await begun.promise
  while (editor.updates('tool_call').length < 3) await new Promise((done) => setImmediate(done))
  const announced = editor.updates('tool_call').filter(({ title }) => title === 'slow')
  expect(announced).toMatchObject([
    { status: 'in_progress', rawInput: { q: 'one' } },
    { status: 'pending', rawInput: { q: 'two' } },
  ])
  end.fire()
  await turn
  expect(editor.updates('tool_call_update')).toMatchObject(
    announced.map(({ toolCallId }) => ({ toolCallId, status: 'completed' })),
  )
  expect(editor.text()).toBe('I look. Found.')
})
