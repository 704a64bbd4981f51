// The model of the examples: the one that AI_MODEL names, such as openai/gpt-5-mini, or a mock that follows a script.
// A name needs a key for the default provider of the AI SDK (AI_GATEWAY_API_KEY), or a provider of your own.
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'

/** @param turns what the mock answers, turn by turn: a text, or a list of `[tool, input]` */
export function model(...turns) {
  return process.env.AI_MODEL ?? mock(turns)
}

function mock(turns) {
  const partsFor = (prompt) => {
    const turn = turns[prompt.filter(({ role }) => role === 'assistant').length] ?? 'Done.'
    if (typeof turn === 'string') return textParts(turn)
    return turn.map(([toolName, input], index) => ({
      type: 'tool-call',
      toolCallId: `${toolName}-${index}`,
      toolName,
      input: JSON.stringify(input),
    }))
  }
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => ({
      content: wholeTexts(partsFor(prompt)),
      finishReason: finish.finishReason,
      usage: finish.usage,
      warnings: [],
    }),
    doStream: async ({ prompt }) => ({
      stream: simulateReadableStream({ chunks: [...partsFor(prompt), finish], chunkDelayInMs: 5 }),
    }),
  })
}

function textParts(text) {
  const words = text.match(/\S+\s*/g) ?? []
  return [
    { type: 'text-start', id: '1' },
    ...words.map((delta) => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
  ]
}

function wholeTexts(parts) {
  const text = parts.map(({ delta = '' }) => delta).join('')
  return text === '' ? parts : [{ type: 'text', text }]
}

const finish = {
  type: 'finish',
  finishReason: { unified: 'stop' },
  usage: { inputTokens: { total: 100 }, outputTokens: { total: 20 } },
}
