/**
 * Executes one tool call inside a step, and provides what the tool can read about that step. A running tool can ask the
 * user a question. A step cannot wait for a person, so the execution ends, the task asks, and the tool is executed again
 * with the answer.
 */

import type { ModelMessage } from 'ai'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { AgentTask, Answer, StepContext } from '../../engine/author/agent-task.ts'
import { inToolSpan } from '../gen-ai-spans.ts'
import type { AnyTool, ExecutionOptions, ToolCall } from './results.ts'

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

export interface UserQuestion {
  readonly message: string
  /** The JSON schema of the answer. */
  readonly schema?: JsonObject
}

export type UserAnswer = Pick<Answer, 'text' | 'data'>

/** Thrown to end an execution that has to ask the user. */
class NeedsAnswer extends Error {
  override readonly name = 'NeedsAnswer'
  readonly question: UserQuestion

  constructor(question: UserQuestion) {
    super(`the tool asks the user: ${question.message}`)
    this.question = question
  }
}

const QUESTION = 'lull:question'

type Asked = { readonly [QUESTION]: UserQuestion }

/**
 * The result of an execution, or the question because of which it ended. Either one is recorded as
 * the result of the step.
 */
export async function resultOrQuestion<T>(work: () => Promise<T>): Promise<T | Asked> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NeedsAnswer) return { [QUESTION]: error.question }
    throw error
  }
}

export function questionIn(result: unknown): UserQuestion | undefined {
  return typeof result === 'object' && result !== null && QUESTION in result
    ? (result as Asked)[QUESTION]
    : undefined
}

/**
 * Asks the questions of a tool until it returns a result.
 * @param execute executes the tool in a new step with the answers so far
 */
export async function withAnswers<T extends Json>(
  task: AgentTask,
  first: T,
  execute: (answers: readonly UserAnswer[]) => Promise<T>,
): Promise<T> {
  const answers: UserAnswer[] = []
  let result = first
  for (let question = questionIn(result); question !== undefined; question = questionIn(result)) {
    const { message, schema } = question
    const shape = schema === undefined ? [] : [{ data: { schema } }]
    answers.push(await task.ask([{ text: message }, ...shape]))
    result = await execute([...answers])
  }
  return result
}

/**
 * Returns a function that gives the answers in the order of the questions.
 * @throws NeedsAnswer for a question that has no answer yet
 */
function answering(answers: readonly UserAnswer[]): (question: UserQuestion) => UserAnswer {
  let next = 0
  return (question) => {
    const answer = answers[next++]
    if (answer === undefined) throw new NeedsAnswer(question)
    return answer
  }
}
