/** One turn of an `aiAgent`: one model call and the tool calls that it asked for. */
import {
  type AssistantModelMessage,
  generateText,
  type ModelMessage,
  type StepResult,
  type ToolResultPart,
  type ToolSet,
} from 'ai'
import type { UsageReport } from '../../core/records.ts'
import type { Json } from '../../core/values/json.ts'
import type { AgentTask, Turn } from '../../engine/author/agent-task.ts'
import { liveModel, urlSupport } from '../model/durable-model.ts'
import { toJournal } from '../model/journal-value.ts'
import { ownNames, SKIPPED } from '../tools/results.ts'
import { acceptable, createRename, messagesOf, openCalls } from './messages.ts'
import type { AiAgentOptions } from './options.ts'
import { runCalls } from './run-calls.ts'

export interface TurnResult {
  readonly text: string
  /** Whether the model waits for tool results, so that another turn follows. */
  readonly goesOn: boolean
  /** Whether the answer ended at the limit of output tokens, with no call of a tool. */
  readonly isCutOff: boolean
  readonly step: StepResult<ToolSet>
  readonly usage: UsageReport
}

/** @param tools the tools of the agent and of its MCP servers */
export async function takeTurn(
  options: AiAgentOptions,
  tools: ToolSet,
  task: AgentTask,
  turn: Turn,
): Promise<TurnResult> {
  const rename = createRename(turn.transcript)
  const takesUrl = await urlSupport(options.model)
  const messages = [...messagesOf(turn.transcript, takesUrl), ...reminderMessages(turn)]
  const { step, usage } = await callModel(options, tools, task, turn, messages)
  const content = acceptable(assistantContent(step), rename)
  turn.record('agent', toJournal(content))
  const calls = openCalls(content)
  if (calls.length > 0) {
    const refused = refusedResults(step)
    const onInterrupted = interruptionPolicy(options)
    const batch = { task, turn, tools, messages, onInterrupted }
    const valid = calls.filter((_, index) => refused[index] === undefined)
    const done = await runCalls(batch, valid)
    const results = calls.map(({ toolCallId, toolName }, index): ToolResultPart => {
      const found = done.find((one) => one.toolCallId === toolCallId)
      const output = refused[index] ?? found?.output ?? SKIPPED
      return { type: 'tool-result', toolCallId, toolName, output }
    })
    turn.record('tool', toJournal(results))
    addResults(step, results)
  }
  const goesOn = calls.length > 0
  const isCutOff = !goesOn && step.finishReason === 'length'
  return { text: step.text, goesOn, isCutOff, step, usage }
}

/** The reminders as a message. They are part of this model call only, and not of the transcript. */
function reminderMessages({ reminderBlock }: Turn): readonly ModelMessage[] {
  return reminderBlock === '' ? [] : [{ role: 'user', content: reminderBlock }]
}

async function callModel(
  options: AiAgentOptions,
  tools: ToolSet,
  task: AgentTask,
  turn: Turn,
  messages: readonly ModelMessage[],
): Promise<{ readonly step: StepResult<ToolSet>; readonly usage: UsageReport }> {
  const { model, system, settings, toolChoice, providerOptions } = options
  const { stream, retry, price, contextWindow } = options
  let usage: UsageReport = {}
  const live = liveModel(task, model, {
    ...(stream === undefined ? {} : { stream }),
    ...(retry === undefined ? {} : { retry }),
    ...(price === undefined ? {} : { price }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    onUsage: (reported) => {
      usage = reported
    },
  })
  const words = typeof system === 'function' ? await system(turn, task) : system
  const { steps } = await generateText({
    ...settings,
    model: live,
    messages: [...messages],
    tools: withoutFunctions(tools),
    maxRetries: 0,
    ...(words === undefined ? {} : { system: words }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  })
  const [step] = steps
  if (step === undefined) throw new Error('the model gave no answer')
  return { step, usage }
}

/**
 * Removes the functions of the tools: the SDK only describes tools to the model, and the turn
 * executes them.
 */
function withoutFunctions(tools: ToolSet): ToolSet {
  const described = Object.entries(tools).map(([name, tool]) => {
    const { execute: _, needsApproval: __, ...rest } = tool
    return [name, rest]
  })
  return ownNames(Object.fromEntries(described) as ToolSet)
}

function assistantContent({ response }: StepResult<ToolSet>): AssistantModelMessage['content'] {
  const message = response.messages.find(({ role }) => role === 'assistant')
  return message?.role === 'assistant' ? message.content : []
}

/**
 * The results that the SDK has made itself, for calls with invalid input or an unknown tool, in the
 * order of the calls.
 */
function refusedResults({
  response,
  toolCalls,
}: StepResult<ToolSet>): readonly (ToolResultPart['output'] | undefined)[] {
  const results = response.messages.flatMap(({ role, content }) =>
    role === 'tool' ? content.filter((part) => part.type === 'tool-result') : [],
  )
  return toolCalls
    .filter(({ providerExecuted }) => providerExecuted !== true)
    .map(({ invalid, toolCallId }) =>
      invalid ? results.find((one) => one.toolCallId === toolCallId)?.output : undefined,
    )
}

function interruptionPolicy({ onInterrupted = 'rerun' }: AiAgentOptions) {
  return (toolName: string) =>
    typeof onInterrupted === 'string' ? onInterrupted : (onInterrupted[toolName] ?? 'rerun')
}

/** Adds tool results to the SDK's step, because the conditions in `until` read them there. */
function addResults(step: StepResult<ToolSet>, results: readonly ToolResultPart[]): void {
  for (const { toolCallId, toolName, output } of results) {
    const value: Json = 'value' in output ? (output.value as Json) : null
    step.content.push({
      type: 'tool-result',
      toolCallId,
      toolName,
      input: step.toolCalls.find((call) => call.toolCallId === toolCallId)?.input,
      output: value,
      dynamic: true,
    })
  }
}
