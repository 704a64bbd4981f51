/**
 * Renders the results of tool calls for a model. A call without a result gets a text that says why.
 * These texts are constant, so that a replay and the provider's prompt cache see identical
 * messages.
 */
import type { ToolResultPart, ToolSet } from 'ai'
import type { Json } from '../../core/values/json.ts'

export type ToolOutput = ToolResultPart['output']
export type AnyTool = ToolSet[string]
/**
 * The second argument of `execute`. Written this way because the SDK's own type has a type
 * parameter in major version 7 and none in 6.
 */
export type ExecutionOptions = Parameters<NonNullable<AnyTool['execute']>>[1]

/** The tools without a prototype, so that the SDK finds no tool where a model calls `constructor`. */
export function ownNames<T extends ToolSet>(tools: T): T {
  return Object.setPrototypeOf({ ...tools }, null) as T
}

export interface ToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

export const SKIPPED: ToolOutput = {
  type: 'error-text',
  value: 'skipped: not executed, because the task was told something more urgent',
}

const INTERRUPTED_TEXT = 'interrupted: it may have been executed in part; check before repeating it'
export const INTERRUPTED: ToolOutput = { type: 'error-text', value: INTERRUPTED_TEXT }

/** The error that is thrown instead of executing the call a second time. */
export const interruptedError = (): Error => new Error(INTERRUPTED_TEXT)

export const DENIED_REASON = 'denied by the user; the tool was not executed'
export const DENIED: ToolOutput = { type: 'execution-denied', reason: DENIED_REASON }

export const errorOutput = (message: string): ToolOutput => ({ type: 'error-text', value: message })

/** A tool's result in the form that the model gets. */
export async function outputOf(
  tool: AnyTool,
  call: ToolCall,
  output: unknown,
): Promise<ToolOutput> {
  const { toModelOutput } = tool
  if (toModelOutput !== undefined) {
    const { toolCallId, input } = call
    return toModelOutput({ toolCallId, input, output })
  }
  return plainOutput(output)
}

export function plainOutput(output: unknown): ToolOutput {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : ({ type: 'json', value: toPlainJson(output) } as ToolOutput)
}

/**
 * Converts a value like the SDK: what JSON cannot express is left out, and a missing result becomes
 * null.
 */
export function toPlainJson(value: unknown): Json {
  const text = JSON.stringify(value)
  return text === undefined ? null : (JSON.parse(text) as Json)
}
