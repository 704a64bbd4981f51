/** A model that streams 100,000 tokens. */
import { MockLanguageModelV3 } from 'ai/test'
import { expect, it } from 'vitest'
import { createHarness } from '../../engine/test-support/engine-harness.ts'
import { aiAgent } from './ai-agent.ts'

const TOKENS = 100_000

it('a stream of 100,000 tokens makes as many records as one of a single token', async () => {
  const records = await Promise.all([1, TOKENS].map(recordsFor))
  expect(records[1]).toEqual(records[0])
})

async function recordsFor(tokens: number): Promise<readonly string[]> {
  const harness = await createHarness({
    agents: [aiAgent({ name: 'talker', description: 'talks', model: talker(tokens) })],
  })
  const { id } = await harness.send('talk')
  const task = await harness.ended(id)
  expect(task.state).toBe('completed')
  const [artifact] = task.artifacts
  expect(artifact?.parts).toEqual([{ text: 'word '.repeat(tokens) }])
  const log = await harness.log(id)
  // The text is in the artifact, in the answer and in the transcript, and no token is stored by itself.
  expect(JSON.stringify(log).length).toBeLessThan(20_000 + 4 * 5 * tokens)
  return log.map(({ type }) => type)
}

/** Makes a token when it is read, as a provider does. */
function talker(tokens: number) {
  const finish = {
    type: 'finish' as const,
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: tokens, text: tokens, reasoning: 0 },
    },
  }
  return new MockLanguageModelV3({
    doStream: async () => {
      let sent = 0
      return {
        stream: new ReadableStream({
          pull(controller) {
            if (sent++ < tokens) {
              controller.enqueue({ type: 'text-delta', id: '1', delta: 'word ' })
              return
            }
            controller.enqueue(finish)
            controller.close()
          },
        }),
      }
    },
  })
}
