/**
 * Spans of model calls and tool calls, by OpenTelemetry's semantic conventions for generative AI.
 * They are children of the span of their step. An answer from the journal has no span. Prompts,
 * answers, inputs and results are never recorded on them.
 */
import { type Attributes, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { AgentTask } from '../engine/author/agent-task.ts'
import type { Answer } from './model/answer.ts'
import { type AnyModel, type ModelCall, usageOf } from './model/any-model.ts'

export function inModelSpan(
  task: Pick<AgentTask, 'contextId'>,
  { modelId, provider }: Pick<AnyModel, 'modelId' | 'provider'>,
  call: ModelCall,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider.split('.')[0] ?? provider,
    'gen_ai.request.model': modelId,
    'gen_ai.conversation.id': task.contextId,
    ...requestAttributes(call),
  }
  return during(`chat ${modelId}`, SpanKind.CLIENT, attributes, async (span) => {
    const answer = await ask()
    span.setAttributes(responseAttributes(answer))
    return answer
  })
}

export function inToolSpan<T>(
  task: Pick<AgentTask, 'contextId'>,
  name: string,
  callId: string,
  execute: () => Promise<T>,
): Promise<T> {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': callId,
    'gen_ai.tool.type': 'function',
    'gen_ai.conversation.id': task.contextId,
  }
  return during(`execute_tool ${name}`, SpanKind.INTERNAL, attributes, execute)
}

function during<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  // Without a registered SDK this creates no span.
  return trace.getTracer('lull/ai').startActiveSpan(name, { kind, attributes }, async (span) => {
    try {
      return await work(span)
    } catch (error) {
      span.setAttribute('error.type', error instanceof Error ? error.name : '_OTHER')
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  })
}

/**
 * The settings of a call for which there is an attribute. Their names are the same in every version
 * of the SDK.
 */
const settings = {
  maxOutputTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  seed: 'gen_ai.request.seed',
} as const

function requestAttributes(call: ModelCall): Attributes {
  const given = new Map<string, unknown>(Object.entries(call))
  const found = Object.entries(settings).flatMap(([setting, attribute]) => {
    const value = given.get(setting)
    return typeof value === 'number' ? [[attribute, value]] : []
  })
  return Object.fromEntries(found)
}

function responseAttributes({ response, finishReason, usage }: Answer): Attributes {
  const { inputTokens, outputTokens } = usageOf(usage)
  const reason = reasonOf(finishReason)
  return {
    ...(response.id === undefined ? {} : { 'gen_ai.response.id': response.id }),
    ...(response.modelId === undefined ? {} : { 'gen_ai.response.model': response.modelId }),
    ...(reason === undefined ? {} : { 'gen_ai.response.finish_reasons': [reason] }),
    ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
  }
}

/**
 * The finish reason: a string in version 2 of the SDK's specification, later an object with
 * `unified`.
 */
function reasonOf(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason
  if (typeof reason !== 'object' || reason === null || !('unified' in reason)) return undefined
  return typeof reason.unified === 'string' ? reason.unified : undefined
}
