/**
 * What language models of all versions of the AI SDK's specification have in common. Parts and
 * options that Lull does not use are passed on unchanged, so a newer version can add to them.
 */

export interface AnyModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(call: ModelCall): PromiseLike<Generated>
  doStream(call: ModelCall): PromiseLike<{ readonly stream: ReadableStream<StreamPart> }>
}

/** The options of one call of a model. */
export interface ModelCall {
  abortSignal?: AbortSignal | undefined
}

/** A part of a streamed answer. */
export interface StreamPart {
  readonly type: string
}

/** A part of an answer: a text, a tool call, a file… */
export interface Content {
  readonly type: string
}

/** The answer of a model that does not stream. */
export interface Generated {
  readonly content: readonly Content[]
  readonly finishReason: unknown
  readonly usage: unknown
  readonly warnings: readonly unknown[]
  readonly providerMetadata?: unknown
  readonly response?: ResponseFacts | undefined
}

export interface ResponseFacts {
  readonly id?: string | undefined
  readonly timestamp?: Date | undefined
  readonly modelId?: string | undefined
}

/** Reads the token usage of a model call from every form in which providers report it. */
export interface ModelUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

type Members = Readonly<Record<string, unknown>>

/** @param usage `{inputTokens: {total, cacheRead…}, …}` of a V3 or V4 model, or the flat form of a V2 model */
export function usageOf(usage: unknown): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = membersOf(usage)
  const input = membersOf(inputTokens)
  const output = membersOf(outputTokens)
  return known({
    inputTokens: input['total'] ?? inputTokens,
    outputTokens: output['total'] ?? outputTokens,
    cacheReadTokens: input['cacheRead'] ?? cachedInputTokens,
    cacheWriteTokens: input['cacheWrite'],
    reasoningTokens: output['reasoning'] ?? reasoningTokens,
  })
}

function known(counts: { readonly [K in keyof ModelUsage]-?: unknown }): ModelUsage {
  return Object.fromEntries(
    Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count) && Number(count) >= 0),
  )
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
