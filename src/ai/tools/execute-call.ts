/** Executes one tool call inside a step, and provides what the tool can read about that step. */
import type { ModelMessage } from 'ai'
import type { AgentTask, StepContext } from '../../engine/author/agent-task.ts'
import { inToolSpan } from '../gen-ai-spans.ts'
import type { AnyTool, ExecutionOptions, ToolCall } from './results.ts'
import { answering, type UserAnswer, type UserQuestion } from './user-question.ts'

/** What a running tool can use beside its input. */
export interface ToolContext {
  readonly task: AgentTask
  readonly step: StepContext
  /**
   * Returns the user's answer. If there is none yet, the execution ends here, the task asks the
   * question, and the tool is executed again, so call `ask` before any effect.
   */
  readonly ask: (question: UserQuestion) => UserAnswer
}

export interface CallContext extends Pick<ToolContext, 'task' | 'step'> {
  /** The answers to the questions of earlier executions of this call. */
  readonly answers: readonly UserAnswer[]
  readonly messages: readonly ModelMessage[]
  /** The options from the SDK, if the SDK executes the tool. */
  readonly given?: ExecutionOptions
}

const contexts = new WeakMap<object, ToolContext>()

/**
 * Returns the task and the step of the tool call that is being executed: `execute: (input, options)
 * => toolContext(options).step…`. Its `idempotencyKey` is the same in every attempt of this call.
 * @throws Error outside of `aiAgent` and `durableTools`
 */
export function toolContext(options: object): ToolContext {
  const found = contexts.get(options)
  if (found !== undefined) return found
  throw new Error('toolContext: the tool was not called by aiAgent or durableTools')
}

/**
 * A tool with input of unknown type, because tools have no common input type. The SDK has validated
 * the input.
 */
interface Executable {
  execute?(input: unknown, options: object): unknown
}

/** Calls the tool's function. If it is a generator, the last value is the result. */
export async function executeCall(
  tool: AnyTool,
  { toolCallId, toolName, input }: ToolCall,
  { task, step, answers, messages, given }: CallContext,
): Promise<unknown> {
  const signals = [step.signal, ...(given?.abortSignal ? [given.abortSignal] : [])]
  const options = {
    ...given,
    toolCallId,
    messages: [...messages],
    abortSignal: AbortSignal.any(signals),
  }
  contexts.set(options, { task, step, ask: answering(answers) })
  return inToolSpan(task, toolName, toolCallId, async () => {
    const result = await (tool as Executable).execute?.(input, options)
    return isAsyncIterable(result) ? lastOf(result) : result
  })
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown
  for await (const value of values) last = value
  return last
}
