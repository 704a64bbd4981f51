/** `durableModel`: a model of the AI SDK whose every call is a journaled step. */

import { gateway, type LanguageModel } from 'ai'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import { partsOf } from './answer.ts'
import type { AnyModel, StreamPart } from './any-model.ts'
import { type AskOptions, askModel, type DurableModelOptions } from './ask-model.ts'

/** A model object, not the name of a model. */
export type ModelObject = Exclude<LanguageModel, string>

/**
 * Wraps a model so that every call is a journaled step of the task. Pass it to `generateText`,
 * `streamText` or `ToolLoopAgent` inside `run`. A call that was answered is not repeated after a
 * restart.
 * People who watch the task see the text at once. The stream that the SDK gets starts when the
 * answer is recorded.
 */
export function durableModel<M extends ModelObject>(
  task: AgentTask,
  model: M,
  options?: DurableModelOptions,
): M
export function durableModel(
  task: AgentTask,
  model: string,
  options?: DurableModelOptions,
): ModelObject
export function durableModel(
  task: AgentTask,
  given: LanguageModel,
  options: DurableModelOptions = {},
): ModelObject {
  const model = modelOf(given)
  return replaceCalls(model, {
    doGenerate: (call) => askModel(task, model, call, 'generate', options),
    doStream: async (call) => ({
      stream: streamOf(partsOf(await askModel(task, model, call, 'stream', options))),
    }),
  })
}

/** Like `durableModel`, for calls that need no stream but show the text while it is written. */
export function liveModel(task: AgentTask, given: LanguageModel, options: AskOptions): ModelObject {
  const model = modelOf(given)
  const how = options.stream === false ? 'generate' : 'stream'
  return replaceCalls(model, {
    doGenerate: (call) => askModel(task, model, call, how, options),
  })
}

/** The model object. A name means a model of the default provider, as in the SDK. */
export function modelOf(model: LanguageModel): ModelObject {
  if (typeof model !== 'string') return model
  const { AI_SDK_DEFAULT_PROVIDER: provider = gateway } = globalThis
  return provider.languageModel(model)
}

type Calls = Partial<Pick<AnyModel, 'doGenerate' | 'doStream'>>

/**
 * Replaces the methods that call the model. Other members are read from the original object,
 * because providers may have private fields.
 */
function replaceCalls<M extends ModelObject>(model: M, calls: Calls): M {
  return new Proxy(model, {
    get(target, name) {
      if (Object.hasOwn(calls, name)) return Reflect.get(calls, name)
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function streamOf(parts: readonly StreamPart[]): ReadableStream<StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

/**
 * Determines which links a model loads itself. The SDK would download the others before the model
 * call, outside of its journaled step.
 */
export type TakesUrl = (mediaType: string, url: string) => boolean

/**
 * Decides like the SDK: by patterns of media types such as `image/*`, each with patterns of
 * addresses.
 */
export async function urlSupport(model: LanguageModel): Promise<TakesUrl> {
  const supported = Object.entries((await modelOf(model).supportedUrls) ?? {})
  return (mediaType, url) =>
    isWeb(url) &&
    supported.some(
      ([pattern, addresses]) =>
        mediaType.toLowerCase().startsWith(prefixOf(pattern)) &&
        addresses.some((address) => address.test(url.toLowerCase())),
    )
}

const prefixOf = (pattern: string): string =>
  pattern === '*/*' ? '' : pattern.toLowerCase().replace('*', '')

const isWeb = (url: string): boolean =>
  URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)
