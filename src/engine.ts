/**
 * `lull/engine`: what programs need that bring a store, clock or log of their own, or that read and control tasks in code.
 * `lull` has what authors of agents use. No name is in both.
 */

// Types behind `agent()`, for code that wraps it.

export type { NoSchema } from './engine/author/agent.ts'
export type { ChoiceOf } from './engine/author/agent-task.ts'
export type { OutputOf, StandardSchemaV1 } from './engine/author/standard-schema.ts'
export type {
  ChangedByJson,
  JsonSerializable,
  NotJsonSerializable,
  StepResult,
} from './engine/author/step-result.ts'

// What a provider of reminders is told at the start of a turn.

export type { TurnStart } from './engine/author/providers/provider.ts'

// How the server speaks A2A; without our server it is `lull/a2a`.

export type {
  A2AConfig,
  CardOptions,
  SecurityOptions,
  StateSpelling,
} from './protocols/a2a/index.ts'

// What everything is made of: a task, its messages, its stops, its log.

export type {
  Budget,
  BudgetFigures,
  Measure,
  Per,
  Spent,
  WarningPercent,
} from './core/budgets/budget.ts'
export type { Rule, RuleCause } from './core/budgets/rule.ts'
export type {
  Artifact,
  MessageInput,
  PartDetails,
  PartInput,
  PartInputDetails,
  Role,
} from './core/messages/message.ts'
export type { TranscriptEntry } from './core/messages/transcript.ts'
export type { MakePush, Push, PushTarget } from './core/push.ts'
export type {
  ChildResult,
  ContextSnapshot,
  Decision,
  DecisionContent,
  DeferredAction,
  Failure,
  Forking,
  JournalRecord,
  LogRecord,
  Question,
  RecordBody,
  RunToken,
  Submission,
  Usage,
  UsageReport,
} from './core/records.ts'
export type {
  AcceptedReminder,
  ExpiryReason,
  PendingReminder,
  Propagate,
  RoleHint,
  TurnOutcome,
} from './core/reminders/reminders.ts'
export type { Signal } from './core/signal.ts'
export type { InterruptedState, State, TerminalState } from './core/states.ts'
export type {
  Actor,
  ActorKind,
  EndedChild,
  NewOperation,
  PauseMode,
  ResumeCause,
  SpanLinks,
  Suspension,
  TimeoutEvent,
} from './core/suspension.ts'
export type { AbandonedStep, GivenAnswer, Journal, ResumeAnswer, Task } from './core/task.ts'
export type { DurationUnit, WithDurations } from './core/values/duration.ts'
export type { JsonInput, JsonInputObject } from './core/values/json.ts'
export type { SpanLink } from './core/values/span-link.ts'
export type { StoredEvent } from './core/waiting/cloud-event.ts'
export type {
  EventFilter,
  OnTimeout,
  ResumeConditions,
  Timeout,
  Trigger,
} from './core/waiting/conditions.ts'

// What an engine is asked, and what it answers.

export type { WorkerSummary } from './engine/cluster/worker-list.ts'
export { createEngine } from './engine/engine.ts'
export type { EventLoopBlock, Health } from './engine/executor/health.ts'
export type { HoldOutcome, TaskOutcome } from './engine/holds/held-tasks.ts'
export type { LiftAnswer } from './engine/holds/holds.ts'
export type { HoldAnswer, HoldRequest } from './engine/holds/place-hold.ts'
export type { HoldPreview, HoldPreviewRequest } from './engine/holds/preview-hold.ts'
export type {
  CountRequest,
  ListRequest,
  ParkRequest,
  ReminderRequest,
  SendRequest,
} from './engine/input/requests.ts'
export type { Audit, AuditedAction, AuditNote, AuditRequest } from './engine/observe/audit.ts'
export type {
  BudgetAnswer,
  BudgetInfo,
  RefillRequest,
  SetBudgetRequest,
} from './engine/policies/budgets.ts'
export type { DryRun, Firing } from './engine/policies/dry-run.ts'
export type { RuleRequest } from './engine/policies/rules.ts'
export type { CancelRequest } from './engine/requests/cancel-task.ts'
export type { ForkRequest } from './engine/requests/fork/fork-task.ts'
export type { ExportRequest } from './engine/requests/import/export-task.ts'
export type { ImportAnswer, ImportRequest } from './engine/requests/import/import-task.ts'
export type {
  ParkTaskRequest,
  PauseAnswer,
  PauseDialect,
  PauseRequest,
} from './engine/requests/pause-task.ts'
export type { TaskCounts, TaskFacts, TaskPage } from './engine/requests/read-tasks.ts'
export type {
  ClearRemindersRequest,
  RemindAnswer,
  RemindRequest,
} from './engine/requests/remind/reminders.ts'
export type { RecordedTask } from './engine/requests/replay/recorded-task.ts'
export type { ResumeDialect, ResumeRequest } from './engine/requests/resume-task.ts'
export type { AnswerRequest, AnswerResult } from './engine/requests/send/answer-task.ts'
export type { AnswerTaken, SendResult } from './engine/requests/send/send-result.ts'
export type { Verification } from './engine/requests/verify-task.ts'
export type {
  LiveTextUpdate,
  ReaderUpdate,
  RecordBatch,
  TaskReader,
} from './engine/streams/log-reader.ts'
export type { RetentionReport } from './engine/upkeep/retention.ts'
export type { EmittedEvent } from './engine/wakes/events.ts'
export type { FailedTime } from './engine/wakes/schedules/schedule-state.ts'
export type { ScheduleInfo } from './engine/wakes/schedules/schedules.ts'

// What an engine is made from, for those who bring a store, a clock or a log.

export type { LiveText, TextChunk, TextPosition } from './core/messages/live-text.ts'
export type { TextNews, TextPiece } from './core/messages/text-news.ts'
export {
  type CheckedReceipt,
  type CheckedReceipts,
  type ReceiptFault,
  type ReceiptVerdict,
  type SignatureKind,
  type Voucher,
  verifyReceipts,
} from './core/receipts/check-receipts.ts'
export type {
  PublicKey,
  Receipt,
  ReceiptKind,
  SignatureVerdict,
  Signer,
  Verifier,
} from './core/receipts/receipt.ts'
export {
  checkExport,
  EXPORT_FORMAT,
  type ExportHeader,
  type TaskExport,
} from './core/receipts/task-export.ts'
export { redact } from './core/redact.ts'
export type { Scope } from './core/scopes.ts'
export type { EngineDeps, ProcessName } from './engine/deps.ts'
export type { AgentSlots } from './engine/executor/slots.ts'
export { defaultOptions, type EngineOptions, type EngineSettings } from './engine/options.ts'
export type { CancelTimer, Clock } from './ports/clock.ts'
export type { IdSource } from './ports/ids.ts'
export type { Log, LogLevel } from './ports/log.ts'
export type { MemoryUsage } from './ports/memory.ts'
export type { CounterName, GaugeName, Meter, TimerName } from './ports/meter.ts'
export type { AuditEntry, AuditQuery, AuditStore } from './ports/store/audit.ts'
export type {
  Claim,
  ClaimKey,
  ClaimStore,
  ContextMessage,
  StoredContextMessage,
} from './ports/store/claims.ts'
export type {
  Beat,
  Changes,
  ClusterStore,
  GuardedLease,
  HoldsInEffect,
  LoopGuard,
  NewWorker,
  TextWish,
  Worker,
} from './ports/store/cluster.ts'
export type { EventKey, EventPositions, EventStore } from './ports/store/events.ts'
export type { Hold, HoldScope, HoldStore } from './ports/store/holds.ts'
export type { KeyValueStore } from './ports/store/key-values.ts'
export type { BudgetKey, Policy, PolicyStore } from './ports/store/policies.ts'
export type { PruneResult } from './ports/store/pruning.ts'
export type { PushStore } from './ports/store/pushes.ts'
export type { SessionRow, SessionStore } from './ports/store/sessions.ts'
export type {
  Commit,
  CommitFailure,
  CommitResult,
  OpenTaskQuery,
  StoredTask,
  TaskFilter,
  TaskKey,
  TaskQuery,
  TaskRow,
  TaskStore,
} from './ports/store/tasks.ts'
export type { Space, StoredUsage, UsageOf, UsageStore } from './ports/store/usage.ts'
export type { Orphan, ReadyTask, WorkStore } from './ports/store/work.ts'
export type { Store } from './ports/store.ts'
export type { Span, SpanAttributes, SpanFacts, SpanKind, Tracing } from './ports/tracing.ts'
export type { AdmissionLimits } from './server/auth/admission.ts'
export type {
  AuthConfig,
  JwtAlgorithm,
  JwtConfig,
  OidcConfig,
  OidcGrant,
  ProxyConfig,
} from './server/auth/auth-config.ts'
export type { Authenticated, AuthenticateRequest, AuthRequest } from './server/auth/authenticate.ts'
export type { AuthMode } from './server/settings/settings.ts'
export type { PostgresConfig, StoreKind } from './server/store/open-store.ts'
export { createPublicVerifier, createSigner } from './server/system/signer.ts'
export { createMemoryStore } from './stores/memory/memory-store.ts'
export { createPostgresStore, type PostgresStoreOptions } from './stores/postgres/postgres-store.ts'
export { createSqliteStore, type SqliteStoreOptions } from './stores/sqlite/sqlite-store.ts'
