/**
 * A model that answers by what it is asked: its script is a function of the prompt, so it says the same after a crash. It
 * streams word by word and keeps the prompts. For tests only.
 */
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'

type Model = InstanceType<typeof MockLanguageModelV3>
type Call = Parameters<Model['doStream']>[0]
type Prompt = Call['prompt']
type Part =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never
type Content = Awaited<ReturnType<Model['doGenerate']>>['content'][number]

export interface ScriptedAnswer {
  readonly text?: string
  readonly calls?: readonly {
    readonly tool: string
    readonly input?: unknown
    readonly id?: string
  }[]
  /** `none`: the provider reports no usage. */
  readonly usage?: { readonly input: number; readonly output: number } | 'none'
  /** Why the answer ends. Default: its calls, or that it is whole. */
  readonly finish?: 'error' | 'length'
  /** What the provider wants back with the text, such as the id of an item that it stores. */
  readonly providerMetadata?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Streams its text and then nothing more. */
  readonly hangs?: boolean
}

/** @param turn how many answers of the model are in the prompt */
export type ModelScript = (turn: number, prompt: Prompt, call: Call) => ScriptedAnswer

export interface ScriptedModel {
  readonly model: Model
  /** Every prompt that the model was asked with, also those whose answer was lost. */
  readonly prompts: readonly Prompt[]
}

export function scriptedModel(script: ModelScript): ScriptedModel {
  const prompts: Prompt[] = []
  const answer = (call: Call): ScriptedAnswer => {
    prompts.push(call.prompt)
    const turn = call.prompt.filter(({ role }) => role === 'assistant').length
    return script(turn, call.prompt, call)
  }
  const model = new MockLanguageModelV3({
    modelId: 'scripted',
    doGenerate: async (call) => {
      const given = answer(call)
      return { content: contentOf(given), ...endOf(given), warnings: [] }
    },
    doStream: async (call) => {
      const given = answer(call)
      if (given.hangs) return { stream: endless(contentOf({ text: given.text ?? '' })) }
      const chunks = [...contentOf(given).flatMap(partsOf), finish(given)]
      return {
        stream: simulateReadableStream<Part>({
          chunks,
          initialDelayInMs: null,
          chunkDelayInMs: null,
        }),
      }
    },
  })
  return { model, prompts }
}

function endless(content: readonly Content[]): ReadableStream<Part> {
  return new ReadableStream({
    start(controller) {
      for (const part of content.flatMap(partsOf)) controller.enqueue(part)
    },
  })
}

function contentOf({ text = '', calls = [], providerMetadata }: ScriptedAnswer): Content[] {
  const metadata = providerMetadata === undefined ? {} : { providerMetadata }
  const texts: Content[] = text === '' ? [] : [{ type: 'text', text, ...metadata }]
  return [
    ...texts,
    ...calls.map(
      ({ tool, input = {}, id }, index): Content => ({
        type: 'tool-call',
        toolCallId: id ?? `call-${index + 1}`,
        toolName: tool,
        input: typeof input === 'string' ? input : JSON.stringify(input),
      }),
    ),
  ]
}

function partsOf(content: Content, index: number): Part[] {
  if (content.type !== 'text') return [content as Part]
  const { providerMetadata } = content
  const id = String(index)
  const words = content.text.match(/\S+\s*|\s+/g) ?? []
  return [
    { type: 'text-start', id },
    ...words.map((delta): Part => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id, ...(providerMetadata === undefined ? {} : { providerMetadata }) },
  ]
}

function endOf({ calls = [], usage = { input: 10, output: 5 }, finish }: ScriptedAnswer) {
  const unified = finish ?? (calls.length > 0 ? ('tool-calls' as const) : ('stop' as const))
  const [input, output] = usage === 'none' ? [] : [usage.input, usage.output]
  return {
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  }
}

const finish = (answer: ScriptedAnswer): Part => ({ type: 'finish', ...endOf(answer) })
