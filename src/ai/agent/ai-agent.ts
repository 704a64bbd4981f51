/**
 * `aiAgent`: an agent that consists of a model with tools. Each turn of its loop is one model call
 * and the tool calls that it asked for, and each of these is a journaled step. The transcript of
 * the task is the model's conversation.
 */
import type { StepResult, StopCondition, ToolSet } from 'ai'
import { type Agent, agent, type Outcome } from '../../engine/author/agent.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import { remindSelf } from '../tools/built-in.ts'
import { afterTurn, nothingSpent, withinBudget } from './budget.ts'
import { checkOptions } from './check-options.ts'
import { createMcpTools, type McpTools } from './mcp-tools.ts'
import type { AiAgentOptions } from './options.ts'
import { compacted, digestOf } from './summary.ts'
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
    digest: (transcript, spend) => digestOf(options, transcript, spend),
    compact: (transcript, spend) => compacted(options, transcript, spend),
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
