/**
 * Runs the tool calls of one answer: first the questions for consent, then the tools one after the
 * other, then the tools that act on the task. So a denial is known before anything is executed, and
 * when a tool stops the task, no other call is half done.
 *
 * Invariants (ai-agent.test.ts):
 *  C1  every call gets exactly one result, whatever stops the batch;
 *  C2  nothing is executed before all questions for consent are answered;
 *  C3  after an interrupting reminder no further call is executed, and the model is told so.
 */
import type { ModelMessage, ToolResultPart, ToolSet } from 'ai'
import { announcement, callKey } from '../../core/messages/tool-calls.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Json } from '../../core/values/json.ts'
import type { AgentTask, StepContext, ToolResult, Turn } from '../../engine/author/agent-task.ts'
import { callsToApprove, isApproved } from '../tools/approval.ts'
import type { OnInterrupted } from '../tools/durable-tools.ts'
import {
  executeCall,
  questionIn,
  resultOrQuestion,
  type UserAnswer,
  withAnswers,
} from '../tools/execute-call.ts'
import {
  type AnyTool,
  DENIED,
  errorOutput,
  INTERRUPTED,
  outputOf,
  plainOutput,
  SKIPPED,
  type ToolCall,
  type ToolOutput,
  toPlainJson,
} from '../tools/results.ts'
import { runInTask } from '../tools/task-tool.ts'

export interface Batch {
  readonly task: AgentTask
  readonly turn: Turn
  readonly tools: ToolSet
  readonly messages: readonly ModelMessage[]
  readonly onInterrupted: (toolName: string) => OnInterrupted
}

interface KnownCall {
  readonly call: ToolCall
  readonly tool: AnyTool
}

/** @param calls the calls that the SDK has found valid */
export async function runCalls(
  batch: Batch,
  calls: readonly ToolCall[],
): Promise<readonly ToolResultPart[]> {
  const { task, tools, messages } = batch
  const outputs = new Map<ToolCall, ToolOutput>()
  const known = calls.flatMap((call): readonly KnownCall[] => {
    const tool = Object.hasOwn(tools, call.toolName) ? tools[call.toolName] : undefined
    return tool === undefined ? [] : [{ call, tool }]
  })
  for (const call of await callsToApprove(task, known, messages)) {
    if (!(await isApproved(task, call))) outputs.set(call, DENIED)
  }
  const allowed = known.filter(({ call }) => !outputs.has(call))
  const inSteps = allowed.filter(({ tool }) => tool.execute !== undefined)
  const isSkipping = await runInSteps(batch, inSteps, outputs)
  if (isSkipping) skipQuestions(outputs)
  else await askQuestions(batch, inSteps, outputs)
  const inTask = allowed.filter(({ tool }) => tool.execute === undefined)
  if (!isSkipping) await runInTaskCode(batch, inTask, outputs)
  return calls.map((call) => {
    const { toolCallId, toolName } = call
    return { type: 'tool-result', toolCallId, toolName, output: outputs.get(call) ?? SKIPPED }
  })
}

/**
 * Marks calls whose tool asked the user a question as skipped. They have no result, and are not
 * executed again (C3).
 */
function skipQuestions(outputs: Map<ToolCall, ToolOutput>): void {
  for (const [call, output] of outputs) {
    if (questionIn(output) !== undefined) outputs.set(call, SKIPPED)
  }
}

/** Runs calls as steps in one batch. Returns whether the rest of it was skipped (C3). */
async function runInSteps(
  batch: Batch,
  calls: readonly KnownCall[],
  outputs: Map<ToolCall, ToolOutput>,
): Promise<boolean> {
  if (calls.length === 0) return false
  const { turn, task } = batch
  const announced = calls.map(({ call }, index) => ({
    key: callKey(turn.number, index),
    name: call.toolName,
    input: toPlainJson(call.input),
  }))
  await task.say(announcement(announced))
  const results = await turn.tools(
    calls.map(({ call, tool }, index) => ({
      name: call.toolName,
      key: callKey(turn.number, index),
      run: (step) => executeOnce(batch, tool, call, step, []),
    })),
  )
  for (const [index, result] of results.entries()) {
    const found = calls[index]
    if (found !== undefined) outputs.set(found.call, outputIn(result))
  }
  return results.some(({ status }) => status === 'skipped')
}

function outputIn(result: ToolResult): ToolOutput {
  if (result.status === 'skipped') return SKIPPED
  if (result.status === 'failed') return errorOutput(result.error)
  return result.result as ToolOutput
}

async function executeOnce(
  { task, messages, onInterrupted }: Batch,
  tool: AnyTool,
  call: ToolCall,
  step: StepContext,
  answers: readonly UserAnswer[],
): Promise<Json> {
  if (step.mayHaveRun && onInterrupted(call.toolName) === 'report') return toPlainJson(INTERRUPTED)
  return toPlainJson(
    await resultOrQuestion(async () => {
      const result = await executeCall(tool, call, { task, step, answers, messages })
      return outputOf(tool, call, result)
    }),
  )
}

/** Asks the user the questions of tools, and executes those tools again with the answers. */
async function askQuestions(
  batch: Batch,
  calls: readonly KnownCall[],
  outputs: Map<ToolCall, ToolOutput>,
): Promise<void> {
  const { task } = batch
  for (const { call, tool } of calls) {
    const first = toPlainJson(outputs.get(call))
    if (questionIn(first) === undefined) continue
    const again = (answers: readonly UserAnswer[]): Promise<Json> =>
      task.step(call.toolName, (step) => executeOnce(batch, tool, call, step, answers))
    try {
      outputs.set(call, (await withAnswers(task, first, again)) as ToolOutput)
    } catch (error) {
      outputs.set(call, errorOutput(describeError(error).message))
    }
  }
}

/**
 * Runs tools that act on the task. A task stops once at a time: questions and then tools that stop
 * the task come one after the other, when the others, which run at the same time, are done.
 */
async function runInTaskCode(
  { task }: Batch,
  calls: readonly KnownCall[],
  outputs: Map<ToolCall, ToolOutput>,
): Promise<void> {
  const one = async ({ call, tool }: KnownCall): Promise<void> => {
    outputs.set(call, await runOrAsk(task, tool, call))
  }
  const isQuestion = ({ tool }: KnownCall): boolean => runInTask(tool) === undefined
  const isLast = ({ tool }: KnownCall): boolean => runInTask(tool)?.last ?? false
  const stops = [...calls.filter(isQuestion), ...calls.filter(isLast)]
  await Promise.all(calls.filter((call) => !stops.includes(call)).map(one))
  for (const call of stops) await one(call)
}

async function runOrAsk(task: AgentTask, tool: AnyTool, call: ToolCall): Promise<ToolOutput> {
  const inTask = runInTask(tool)
  if (inTask === undefined) return askForResult(task, call)
  try {
    return plainOutput(await inTask.run(task, call.input))
  } catch (error) {
    return errorOutput(describeError(error).message)
  }
}

/** Asks the user for the result of a tool that has no function. */
async function askForResult(task: AgentTask, { toolName, input }: ToolCall): Promise<ToolOutput> {
  const question = { text: `What is the result of ${toolName}?` }
  const { text, data } = await task.ask([question, { data: toPlainJson(input) }])
  return plainOutput(data ?? text)
}
