/**
 * Approval of tool calls by the user: `needsApproval` of a tool becomes a question for consent that is bound to the tool and
 * its arguments.
 *
 * Invariants (approval.test.ts):
 *  P1  whether a call needs approval is decided once and recorded; a rebuilt run uses that
 *      decision;
 *  P2  a consent is valid for one call with these arguments;
 *  P3  a call that was denied is never executed.
 */
import type { ModelMessage } from 'ai'
import { isLullError } from '../../core/errors.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import { type AnyTool, type ToolCall, toPlainJson } from './results.ts'

/** Finds the calls that need approval, in a single step (P1). */
export async function callsToApprove(
  task: AgentTask,
  calls: readonly { readonly call: ToolCall; readonly tool: AnyTool }[],
  messages: readonly ModelMessage[],
): Promise<readonly ToolCall[]> {
  if (calls.every(({ tool }) => isNever(tool.needsApproval))) return []
  const verdicts = await task.step('approval', () =>
    Promise.all(calls.map(({ call, tool }) => needsApproval(tool, call, messages))),
  )
  return calls.flatMap(({ call }, index) => (verdicts[index] ? [call] : []))
}

const isNever = (policy: AnyTool['needsApproval']): boolean =>
  policy === undefined || policy === false

async function needsApproval(
  { needsApproval: policy = false }: AnyTool,
  { toolCallId, input }: ToolCall,
  messages: readonly ModelMessage[],
): Promise<boolean> {
  if (typeof policy === 'boolean') return policy
  // The context has different names in major versions 6 and 7 of the SDK.
  const contexts = { experimental_context: undefined, context: undefined }
  return policy(input, { toolCallId, messages: [...messages], ...contexts })
}

/** Asks the user. False if the call was denied. */
export async function isApproved(task: AgentTask, call: ToolCall): Promise<boolean> {
  const { toolName, toolCallId } = call
  const input = toPlainJson(call.input)
  try {
    await task.requireConsent({
      prompt: `Allow ${toolName} with ${JSON.stringify(input)}?`,
      operation: { tool: toolName, input, toolCallId },
    })
    return true
  } catch (error) {
    if (isLullError(error, 'CONSENT_DENIED')) return false
    throw error
  }
}
