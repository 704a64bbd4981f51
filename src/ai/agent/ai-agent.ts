/**
 * `aiAgent`: an agent that consists of a model with tools. Each turn of its loop is one model call
 * and the tool calls that it asked for, and each of these is a journaled step. The transcript of
 * the task is the model's conversation.
 */

import { generateText, type StepResult, type StopCondition, type ToolSet } from 'ai'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { UsageReport } from '../../core/records.ts'
import { type Agent, agent, type Outcome, type Spend } from '../../engine/author/agent.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import { usageReport } from '../model/ask-model.ts'
import { modelOf } from '../model/durable-model.ts'
import { remindSelf } from '../tools/task-tool.ts'
import { createMcpTools, type McpTools } from './mcp-tools.ts'
import { type AiAgentOptions, type Budget, checkOptions } from './options.ts'
import { type TurnResult, takeTurn } from './take-turn.ts'

const MOST_TURNS = 20
const FULL = 0.8
const CUT_OFF = 'The answer was cut off at the limit of output tokens'

/** @throws LullError `INVALID_INPUT` */
export function aiAgent(options: AiAgentOptions): Agent {
  checkOptions(options)
  const { providers } = options
  const mcpTools = createMcpTools(options.mcp, options.tools)
  return agent({
    ...options,
    providers: { remindSelf, ...providers },
    digest: (transcript, spend) => summarize(options, transcript, spend),
    compact: (transcript, spend) => compactTranscript(options, transcript, spend),
    run: (task) => loop(options, mcpTools, task),
    close: mcpTools.close,
  })
}

async function loop(
  options: AiAgentOptions,
  mcpTools: McpTools,
  task: AgentTask,
): Promise<Outcome> {
  const steps: StepResult<ToolSet>[] = []
  let spent = nothingSpent
  let tools: ToolSet | undefined
  /** The beginning of an answer that was cut off. */
  let begun = ''
  for (;;) {
    spent = await withinBudget(task, spent, options.budget)
    const result = await task.turn(async (turn) => {
      tools ??= await mcpTools.of(task)
      return takeTurn(options, tools, task, turn)
    })
    spent = afterTurn(spent, result.usage)
    steps.push(result.step)
    const text = begun + result.text
    begun = result.isCutOff ? text : ''
    if (result.isCutOff && options.onCutOff === 'fail') throw new Error(CUT_OFF)
    const goesOn = result.goesOn || (result.isCutOff && options.onCutOff === 'continue')
    if (!goesOn || (await isOver(options.until, steps))) {
      if (result.isCutOff) await task.say(`${CUT_OFF}.`)
      return options.stream === false ? text : undefined
    }
    if (isFull(result, options.contextWindow)) await task.compact()
  }
}

async function isOver(
  until: AiAgentOptions['until'],
  steps: readonly StepResult<ToolSet>[],
): Promise<boolean> {
  if (until === undefined) return steps.length >= MOST_TURNS
  const conditions: readonly StopCondition<ToolSet>[] =
    typeof until === 'function' ? [until] : until
  for (const condition of conditions) if (await condition({ steps: [...steps] })) return true
  return false
}

function isFull({ usage }: TurnResult, contextWindow = Number.POSITIVE_INFINITY): boolean {
  return (usage.inputTokens ?? 0) > FULL * contextWindow
}

/**
 * Tracks what a task has spent since its budget was last renewed, and whether that exceeds the
 * budget.
 */
interface Spending {
  readonly turns: number
  readonly tokens: number
  readonly costUsd: number
}

const nothingSpent: Spending = { turns: 0, tokens: 0, costUsd: 0 }

function afterTurn(spent: Spending, usage: UsageReport): Spending {
  const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = usage
  return {
    turns: spent.turns + 1,
    tokens: spent.tokens + inputTokens + outputTokens,
    costUsd: spent.costUsd + costUsd,
  }
}

/**
 * Parks the task if the budget is used up. Returns what has been spent of the budget that applies
 * afterwards.
 */
async function withinBudget(
  task: AgentTask,
  spent: Spending,
  budget: Budget = {},
): Promise<Spending> {
  const over = findExceeded(spent, budget)
  if (over === undefined) return spent
  await task.park({
    reason: `budget: ${over}`,
    summary: `The budget of this task is used up (${over}). Resume to allow as much again, or cancel.`,
  })
  return nothingSpent
}

const names = ['turns', 'tokens', 'costUsd'] as const

function findExceeded(spent: Spending, budget: Budget): string | undefined {
  const name = names.find((one) => spent[one] >= (budget[one] ?? Number.POSITIVE_INFINITY))
  return name === undefined ? undefined : `${name} ${round(spent[name])} of ${budget[name]}`
}

const round = (amount: number): number => Math.round(amount * 1e6) / 1e6

/**
 * Shortens a transcript with the model: to one text (`digest`), or to a text followed by the newest
 * turns (`compact`).
 */
type Transcript = readonly TranscriptEntry[]
type Summarizer = Pick<AiAgentOptions, 'model' | 'price'>

const KEPT_TURNS = 2
const ASK =
  'Summarize this transcript of your work for yourself, so that you can go on with it and nothing is done twice. Keep the request, decisions, facts, identifiers, results of tools, and what is left to do. Answer with the summary alone.'

/** @param spend called with the usage of the summary */
async function summarize(
  { model, price }: Summarizer,
  transcript: Transcript,
  spend: Spend,
): Promise<string> {
  const prompt = JSON.stringify(transcript)
  const { text, usage } = await generateText({ model, system: ASK, prompt })
  const priced = price === undefined ? {} : { price }
  const report = usageReport(usage, modelOf(model).modelId, priced)
  if (report !== undefined) spend(report)
  return `Summary of the work so far:\n${text}`
}

/** Cuts between two turns, so that no tool call is separated from its result. */
async function compactTranscript(
  summarizer: Summarizer,
  transcript: Transcript,
  spend: Spend,
): Promise<Transcript> {
  const newest = transcript.at(-1)?.turn ?? 0
  const kept = transcript.filter(({ turn }) => turn > newest - KEPT_TURNS)
  const old = transcript.slice(0, transcript.length - kept.length)
  const [last] = old.slice(-1)
  if (last === undefined) return transcript
  const content = await summarize(summarizer, old, spend)
  return [{ turn: last.turn, role: 'digest', content }, ...kept]
}
