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
