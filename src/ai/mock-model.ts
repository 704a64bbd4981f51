/** A model for tests and examples. It follows a script and needs no provider. */
import type { JsonInput } from '../core/values/json.ts'
import type { ModelObject } from './model/durable-model.ts'

/** The answer of the model: a text, or a text and tool calls. */
export type MockAnswer =
  | string
  | {
      readonly text?: string
      readonly calls?: readonly { readonly tool: string; readonly input?: JsonInput }[]
    }

/** A message of a prompt, in the form that a provider gets. */
export interface MockMessage {
  readonly role: string
  readonly content: unknown
}

/** A model of the specification version that both `ai` 6 and 7 accept. */
export type MockModel = Extract<ModelObject, { readonly specificationVersion: 'v3' }> & {
  /** Every prompt that the model received, in order. */
  readonly prompts: readonly (readonly MockMessage[])[]
}

type Generated = Awaited<ReturnType<MockModel['doGenerate']>>
type Content = Generated['content'][number]
type Part =
  Awaited<ReturnType<MockModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

/**
 * A model that gives these answers, one per turn. The turn is the number of model answers in the
 * prompt, so a model that is asked again after a crash gives the same answer. It streams word by
 * word, and each call uses 10 input and 5 output tokens.
 */
export function mockModel(...answers: readonly MockAnswer[]): MockModel {
  const prompts: (readonly MockMessage[])[] = []

  function answerTo(prompt: readonly MockMessage[]): Generated {
    prompts.push(prompt)
    const turn = prompt.filter(({ role }) => role === 'assistant').length
    const answer = answers[turn]
    if (answer !== undefined) return generated(answer, turn)
    const count = `${answers.length} ${answers.length === 1 ? 'answer' : 'answers'}`
    const problem = `mockModel was asked for answer ${turn + 1} and has ${count}`
    // Not retryable, because a retry would not help, and a test would have to move its clock.
    throw Object.assign(new Error(problem), { isRetryable: false })
  }

  return {
    specificationVersion: 'v3',
    provider: 'lull',
    modelId: 'mock',
    supportedUrls: {},
    prompts,
    doGenerate: async ({ prompt }) => answerTo(prompt),
    doStream: async ({ prompt }) => {
      const { content, finishReason, usage } = answerTo(prompt)
      const finish: Part = { type: 'finish', finishReason, usage }
      return { stream: streamOf([...content.flatMap(partsOf), finish]) }
    },
  }
}

function generated(answer: MockAnswer, turn: number): Generated {
  const { text = '', calls = [] } = typeof answer === 'string' ? { text: answer } : answer
  const texts: readonly Content[] = text === '' ? [] : [{ type: 'text', text }]
  const made = calls.map(
    ({ tool: toolName, input = {} }, index): Content => ({
      type: 'tool-call',
      toolCallId: `call-${turn + 1}-${index + 1}`,
      toolName,
      input: JSON.stringify(input),
    }),
  )
  return {
    content: [...texts, ...made],
    finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 5, text: 5, reasoning: 0 },
    },
    warnings: [],
  }
}

function partsOf(content: Content): readonly Part[] {
  if (content.type === 'tool-call') return [content]
  if (content.type !== 'text') return []
  const id = '1'
  const words = content.text.match(/\s*\S+\s*|\s+/g) ?? []
  return [
    { type: 'text-start', id },
    ...words.map((delta): Part => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ]
}

function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}
