/**
 * `lull/client`: a client for A2A agents. It supports versions 1.0 and 0.3, JSON-RPC and REST, and pause and reminders
 * if the agent offers them. It runs in browsers and in Node, and needs only `fetch` and streams.
 */

export type { Artifact, Message, Part, PartDetails, Role } from '../core/messages/message.ts'
export type { ExpiryReason, Propagate, RoleHint } from '../core/reminders/reminders.ts'
export type { InterruptedState, PausedState, State, TerminalState } from '../core/states.ts'
export type { PauseMode, ResumeCause } from '../core/suspension.ts'
export type { Json, JsonObject } from '../core/values/json.ts'
export type {
  EventFilter,
  OnTimeout,
  ResumeConditions,
  Timeout,
  Trigger,
} from '../core/waiting/conditions.ts'
export type {
  BudgetResult,
  BudgetSummary,
  FailedScheduleTime,
  HoldPreview,
  HoldResult,
  HoldSummary,
  LiftResult,
  RuleDryRun,
  RuleSummary,
  ScheduleRun,
  ScheduleSummary,
} from '../wire/ops/control.ts'
export type {
  ExportedTask,
  ImportedTask,
  ReceiptReport,
  ReceiptSummary,
  TaskLog,
  TaskLogPage,
} from '../wire/ops/logs.ts'
export type {
  AgentFigures,
  AgentSummary,
  AuditPage,
  AuditSummary,
  Me,
  Overview,
  OverviewSpan,
  QueueSummary,
  WorkerSummary,
} from '../wire/ops/server.ts'
export type {
  AnsweredTask,
  Changes,
  QuestionSummary,
  ReminderAccepted,
  ShownContent,
  StopSummary,
  TaskList,
  TaskOrder,
  TaskSummary,
  TimelineEntry,
  TimelineKind,
  TimelinePage,
  WebhookSummary,
} from '../wire/ops/tasks.ts'
export type { AgentCard, AgentInterface, Capabilities, ReminderCapabilities } from './card.ts'
export type { CallSignal, Client, ListFilter, SendOptions } from './client.ts'
export {
  type ClientOptions,
  type ConnectOptions,
  connect,
  createClient,
} from './client.ts'
export {
  ClientError,
  type ClientErrorInit,
  type ClientErrorKind,
  isClientError,
} from './client-error.ts'
export { createOps, type Ops, type OpsOptions } from './ops-client.ts'
export type {
  AnswerInput,
  AuditFilter,
  BudgetInput,
  ForkInput,
  HoldInput,
  OpsPauseInput,
  OpsResumeInput,
  PageInput,
  RefillInput,
  RuleInput,
  TaskFilter,
} from './ops-requests.ts'
export {
  type CardVerification,
  createPushVerifier,
  type KeySetOptions,
  type PushDelivery,
  type PushVerification,
  type PushVerifier,
  type PushVerifierOptions,
  verifyCard,
} from './signatures.ts'
export { applyFrame } from './tasks/apply-frame.ts'
export type { ConsentAnswer, Content, MessageTarget } from './tasks/message-content.ts'
export type {
  CancelledOutcome,
  DetachedOutcome,
  ParkInput,
  PausedOutcome,
  PauseFallback,
  PauseInput,
  PauseOutcome,
  PausingOutcome,
  ResumeInput,
  ResumeResult,
} from './tasks/pause-and-resume.ts'
export type {
  ReminderFallback,
  ReminderInput,
  ReminderSelection,
  RemindOutcome,
} from './tasks/remind.ts'
export type {
  ArtifactFrame,
  Consent,
  ExtendedState,
  Frame,
  MessageFrame,
  PendingReminder,
  ReminderChange,
  ReminderFrame,
  Resumption,
  SendResult,
  SnapshotFrame,
  StatusFrame,
  StreamState,
  Suspension,
  Task,
  TaskFrame,
  TaskPage,
  TaskState,
  TaskStatus,
} from './tasks/task-types.ts'
export type { WatchOptions } from './tasks/watch.ts'
export type { Binding, Version } from './wire/a2a-names.ts'
export type { ConnectionOptions, Fetch, HeaderRequest, HeaderSource } from './wire/http-client.ts'
