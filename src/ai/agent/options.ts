/** The options of an agent that consists of a model with tools. */
import type {
  CallSettings,
  generateText,
  LanguageModel,
  StopCondition,
  ToolChoice,
  ToolSet,
} from 'ai'
import type { AgentDefinition } from '../../engine/author/agent.ts'
import type { AgentTask, Retry, Turn } from '../../engine/author/agent-task.ts'
import type { McpServer } from '../../mcp/client/server-config.ts'
import type { ModelUsage } from '../model/usage.ts'
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
