/** The options of an agent that consists of a model with tools. */

import type {
  CallSettings,
  generateText,
  LanguageModel,
  StopCondition,
  ToolChoice,
  ToolSet,
} from 'ai'
import { LullError } from '../../core/errors.ts'
import type { AgentDefinition } from '../../engine/author/agent.ts'
import type { AgentTask, Retry, Turn } from '../../engine/author/agent-task.ts'
import type { McpServer } from '../../mcp/client/server-config.ts'
import type { ModelUsage } from '../model/any-model.ts'
import type { OnInterrupted } from '../tools/durable-tools.ts'

/** How much a task may spend before it parks itself. Each resume allows the same amount again. */
export interface Budget {
  /** The limit in US dollars. Needs `price`. */
  readonly costUsd?: number
  readonly tokens?: number
  readonly turns?: number
}

export interface AiAgentOptions extends Omit<AgentDefinition, 'run' | 'digest' | 'compact'> {
  readonly model: LanguageModel
  readonly system?: string | ((turn: Turn, task: AgentTask) => string | Promise<string>)
  /** Tools of the AI SDK. `needsApproval` asks the user for consent. A tool without `execute` asks the user for its result. */
  readonly tools?: ToolSet
  /**
   * MCP servers whose tools the model also gets, named `<server>_<tool>`. Needs
   * `@modelcontextprotocol/client`.
   */
  readonly mcp?: Readonly<Record<string, McpServer>>
  /** When the loop ends although the model still calls tools. Default: after 20 turns. */
  readonly until?: StopCondition<ToolSet> | readonly StopCondition<ToolSet>[]
  readonly budget?: Budget
  /** The price of a call in US dollars. */
  readonly price?: (usage: ModelUsage, modelId: string) => number
  /**
   * The size of the model's context window in tokens. The transcript is compacted when a call has
   * used 80 % of it.
   */
  readonly contextWindow?: number
  /**
   * The name of the artifact that shows the text while it is written. False: the answer is only the
   * final message. Default `text`.
   */
  readonly stream?: string | false
  /**
   * For an answer that ends at the limit of output tokens: the task completes and says so (`say`, the default), asks the
   * model to go on, within the turns that `until` allows, or fails.
   */
  readonly onCutOff?: 'say' | 'continue' | 'fail'
  /** For a tool call that a crash or a pause may have left half executed, for all tools or by name. Default `rerun`. */
  readonly onInterrupted?: OnInterrupted | Readonly<Record<string, OnInterrupted>>
  /** How a failed model call is retried. */
  readonly retry?: Retry
  /** Model settings such as temperature and the number of output tokens. */
  readonly settings?: Omit<CallSettings, 'maxRetries' | 'abortSignal'>
  readonly toolChoice?: ToolChoice<ToolSet>
  readonly providerOptions?: NonNullable<Parameters<typeof generateText>[0]['providerOptions']>
}

/**
 * Rejects options that would fail only when a task runs: for authors without a compiler, and for
 * mistakes that a compiler cannot find.
 * @throws LullError `INVALID_INPUT` with the path of the invalid option
 */
export function checkOptions(options: AiAgentOptions): void {
  const { model, until, budget, price, tools } = options
  if (typeof model === 'string' ? model === '' : typeof model?.doStream !== 'function') {
    refuse('model', "must be a model of the AI SDK, such as openai('gpt-5-mini'), or its name")
  }
  const conditions = Array.isArray(until) || until === undefined ? (until ?? []) : [until]
  if (conditions.some((condition) => typeof condition !== 'function')) {
    refuse('until', 'must be a condition such as stepCountIs(5), or a list of conditions')
  }
  if (tools !== undefined && (typeof tools !== 'object' || Array.isArray(tools))) {
    refuse('tools', 'must be an object with the tools by their names')
  }
  if (budget?.costUsd !== undefined && price === undefined) {
    refuse('budget.costUsd', 'needs the option price, which says what a call costs')
  }
}

function refuse(path: string, problem: string): never {
  throw new LullError('INVALID_INPUT', { path, problem })
}
