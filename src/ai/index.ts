/** Agents that are models with tools, on the AI SDK (`ai`, versions 6 and 7). */

export type {
  McpHttpServer,
  McpServer,
  McpServerOptions,
  McpStdioServer,
} from '../mcp/client/server-config.ts'
export { aiAgent } from './agent/ai-agent.ts'
export type { AiAgentOptions, Budget } from './agent/options.ts'
export { type MockAnswer, type MockMessage, type MockModel, mockModel } from './mock-model.ts'
export type { ModelUsage } from './model/any-model.ts'
export type { DurableModelOptions } from './model/ask-model.ts'
export { durableModel, type ModelObject } from './model/durable-model.ts'
export {
  type DurableToolsOptions,
  durableTools,
  type OnInterrupted,
} from './tools/durable-tools.ts'
export type { UserAnswer, UserQuestion } from './tools/execute-call.ts'
export { type ToolContext, toolContext } from './tools/execute-call.ts'
export {
  type DelegateInput,
  delegateTool,
  type ParkInput,
  parkTool,
  type RemindInput,
  remindTool,
  type TaskToolDefinition,
  taskTool,
} from './tools/task-tool.ts'
