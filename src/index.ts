/**
 * `lull`: what authors of agents use, and how agents are served. `lull/engine` has the rest: what a program needs that brings
 * its own store, clock or protocol, or that reads and controls tasks in code.
 *
 * Everything that is exported here is meant to be used and stays compatible within a major version; `etc/api` shows it
 * as it is.
 */

// What authors write.

export type { Choice } from './core/messages/question-part.ts'
export {
  type Agent,
  type AgentDefinition,
  agent,
  Fatal,
  type Outcome,
  type ReceiveContext,
  type ReceiveResult,
  Rejection,
  reject,
  type Skill,
  type Spend,
} from './engine/author/agent.ts'
export type {
  AgentTask,
  Answer,
  ArtifactInput,
  ArtifactStream,
  AskOptions,
  AskRequest,
  CheckedAnswer,
  Child,
  Consent,
  ConsentRequest,
  Park,
  ParkTimeout,
  Retry,
  Sleep,
  StepContext,
  StepFunction,
  StepOptions,
  StepStream,
  Tool,
  ToolResult,
  Turn,
} from './engine/author/agent-task.ts'
export type { Conversation, ConversationArtifact } from './engine/author/conversation.ts'
export type { Schedule, ScheduleFacts } from './engine/wakes/schedules/schedule.ts'

// What reminds tasks by itself, and how reminders are written for a model.

export { renderReminders } from './core/reminders/render-reminders.ts'
export {
  idle,
  resumed,
  type TokenPressureOptions,
  type ToolOutputTruncatedOptions,
  tokenPressure,
  toolOutputTruncated,
} from './engine/author/providers/built-in.ts'
export type {
  ProviderInput,
  ReminderProvider,
  ReminderProviders,
} from './engine/author/providers/provider.ts'

// How it is served.

export { type OpenEngine, type OpenEngineOptions, openEngine } from './server/open-engine.ts'
export { StartError } from './server/process/start-error.ts'
export { type RunningServer, type ServeOptions, serve } from './server/serve.ts'
export type { ServerConfig } from './server/settings/config.ts'

// What goes wrong.

export { type ErrorCode, type ErrorDetails, isLullError, LullError } from './core/errors.ts'

// What agents read and write: messages, wakes, values.

export { type Message, type Part, textOf } from './core/messages/message.ts'
export type { ConsentBy } from './core/records.ts'
export type { Reminder } from './core/reminders/reminders.ts'
export type { Wake } from './core/suspension.ts'
export type { Duration } from './core/values/duration.ts'
export type { Json, JsonObject } from './core/values/json.ts'
export type { CloudEvent } from './core/waiting/cloud-event.ts'

// The engine of `openEngine` and `serve`.

export type { Act, Caller, Reach } from './engine/caller.ts'
export type { Engine } from './engine/engine.ts'
