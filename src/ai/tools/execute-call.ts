/** Executes one call of a tool inside a step, and what the tool can read about that step. */
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
   * The user's answer. Without one the execution ends here, the task asks, and the tool is executed again, so ask before
   * effects.
   */
  readonly ask: (question: UserQuestion) => UserAnswer
}

export interface CallContext extends Pick<ToolContext, 'task' | 'step'> {
  /** The answers to the questions of earlier executions of this call. */
  readonly answers: readonly UserAnswer[]
  readonly messages: readonly ModelMessage[]
  /** The options that the SDK gave, if it executes the tool. */
  readonly given?: ExecutionOptions
}

const contexts = new WeakMap<object, ToolContext>()

/**
 * The task and the step of the call that a tool executes: `execute: (input, options) => toolContext(options).step…`. Its
 * `idempotencyKey` is the same in every attempt of this call.
 * @throws Error outside of `aiAgent` and `durableTools`
 */
export function toolContext(options: object): ToolContext {
  const found = contexts.get(options)
  if (found !== undefined) return found
  throw new Error('toolContext: the tool was not called by aiAgent or durableTools')
}

/** Tools of different types have no common type of input. The SDK has checked the input by the schema. */
interface Executable {
  execute?(input: unknown, options: object): unknown
}

/** Calls the tool's function. The last value of a generator is the result. */
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
