/**
 * One model call as a journaled step. The record contains the whole answer. Readers of the task see
 * the text while it is written, but the SDK gets the answer only after it was recorded.
 *
 * Invariants (durable-model.test.ts):
 *  M1  a model call whose answer is recorded is never repeated;
 *  M2  no tool of an answer runs before the answer is recorded;
 *  M3  the live text of an attempt that failed is discarded, and the SDK never sees it;
 *  M4  the usage of an answer is reported once.
 */
import type { UsageReport } from '../../core/records.ts'
import { Fatal } from '../../engine/author/agent.ts'
import type { AgentTask, Retry, StepContext } from '../../engine/author/agent-task.ts'
import { inModelSpan } from '../gen-ai-spans.ts'
import { type Answer, AnswerFold, answerIn, answerOf, recordOf, wholeAnswer } from './answer.ts'
import {
  type AnyModel,
  type ModelCall,
  type ModelUsage,
  type StreamPart,
  usageOf,
} from './any-model.ts'

export interface DurableModelOptions {
  /** The name of the step. Default `model`. */
  readonly name?: string
  /** The name of the artifact that shows the text while it is written. False: none. Default `text`. */
  readonly stream?: string | false
  /**
   * How a failed call is retried. Default: two further attempts. Errors that the provider marks as
   * permanent are not retried.
   */
  readonly retry?: Retry
  readonly timeoutMs?: number
  /** The price of a call in US dollars, for `task.usage`. */
  readonly price?: (usage: ModelUsage, modelId: string) => number
  /** The size of the model's context window in tokens, for `task.usage`. */
  readonly contextWindow?: number
}

/** Options for callers inside `lull/ai`. */
export interface AskOptions extends DurableModelOptions {
  readonly onUsage?: (usage: UsageReport) => void
}

const RETRY: Retry = { attempts: 2, backoffMs: 1_000 }

/** @param how which method of the model is called; `stream` shows the text while it is written */
export async function askModel(
  task: AgentTask,
  model: AnyModel,
  call: ModelCall,
  how: 'generate' | 'stream',
  options: AskOptions,
): Promise<Answer> {
  const { name = 'model', stream = 'text', retry = RETRY, timeoutMs } = options
  const recorded = await task.step(
    name,
    async (step) => {
      const timestamp = new Date()
      const ask = async (): Promise<Answer> =>
        wholeAnswer(await attempt(model, call, how, step, stream))
      const answer = await permanentErrors(() => inModelSpan(task, model, call, ask))
      const filled = { id: `lull-${step.idempotencyKey}`, timestamp, modelId: model.modelId }
      return recordOf(answer, filled)
    },
    { retry, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
  )
  const answer = answerIn(recorded)
  const report = usageReport(answer.usage, model.modelId, options, (facts) =>
    task.log('warn', 'the cost of a model call is unknown: its price is no number', facts),
  )
  if (report !== undefined) {
    await task.usage(report)
    options.onUsage?.(report)
  }
  return answer
}

async function attempt(
  model: AnyModel,
  given: ModelCall,
  how: 'generate' | 'stream',
  step: StepContext,
  name: string | false,
): Promise<Answer> {
  const { abortSignal: outer } = given
  const signal = outer === undefined ? step.signal : AbortSignal.any([step.signal, outer])
  const call = { ...given, abortSignal: signal }
  const out = name === false ? undefined : step.stream(name)
  if (how === 'generate') {
    const answer = answerOf(await model.doGenerate(call))
    signal.throwIfAborted()
    return answer
  }
  const { stream } = await model.doStream(call)
  const fold = new AnswerFold()
  await readParts(stream, signal, (part) => {
    const text = fold.add(part)
    if (text !== '') out?.write(text)
  })
  return fold.answer()
}

/**
 * Reads until the stream ends. An abort ends the reading, even if the stream does not react to the
 * signal.
 */
async function readParts(
  stream: ReadableStream<StreamPart>,
  signal: AbortSignal,
  take: (part: StreamPart) => void,
): Promise<void> {
  const reader = stream.getReader()
  const cancel = (): void => {
    reader.cancel(signal.reason).catch(() => undefined)
  }
  signal.addEventListener('abort', cancel)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return
      take(value)
    }
  } catch (error) {
    cancel()
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Turns errors that the provider marks as permanent into errors that end the retries. */
async function permanentErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && 'isRetryable' in error && error.isRetryable === false) {
      throw new Fatal(error.message, { cause: error })
    }
    throw error
  }
}

/**
 * Undefined: the provider has told nothing. The answer is paid and recorded, so a price that fails, as it may without usage,
 * leaves the cost out.
 */
export function usageReport(
  given: unknown,
  modelId: string,
  { price, contextWindow }: Pick<DurableModelOptions, 'price' | 'contextWindow'>,
  onUnknownCost: (facts: object) => void = () => undefined,
): UsageReport | undefined {
  const usage = usageOf(given)
  const { inputTokens, outputTokens } = usage
  const costUsd =
    price === undefined
      ? undefined
      : costOf(
          () => price(usage, modelId),
          (facts) => onUnknownCost({ modelId, ...facts }),
        )
  const report: UsageReport = {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
  if (Object.keys(report).length === 0) return undefined
  return contextWindow === undefined ? report : { ...report, contextWindow }
}

function costOf(price: () => number, onUnknown: (facts: object) => void): number | undefined {
  try {
    const cost: unknown = price()
    if (typeof cost === 'number' && Number.isFinite(cost) && cost >= 0) return cost
    onUnknown({ price: String(cost) })
  } catch (error) {
    onUnknown({ error })
  }
  return undefined
}
