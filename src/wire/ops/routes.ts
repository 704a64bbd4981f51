/** The routes of `/ops` as both sides know them: the server serves each, and the client calls each. */
import type {
  BudgetResult,
  BudgetSummary,
  HoldPreview,
  HoldResult,
  HoldSummary,
  LiftResult,
  RuleDryRun,
  RuleSummary,
  ScheduleRun,
  ScheduleSummary,
} from './control.ts'
import type { ExportedTask, ImportedTask, ReceiptReport, TaskLogPage } from './logs.ts'
import type {
  AgentSummary,
  AuditPage,
  Me,
  Overview,
  QueueSummary,
  WorkerSummary,
} from './server.ts'
import type {
  AnsweredTask,
  ReminderAccepted,
  TaskList,
  TaskSummary,
  WaitingList,
  WebhookSummary,
} from './tasks.ts'

/** What each route answers. */
export interface OpsAnswers {
  readonly tasks: TaskList
  readonly task: TaskSummary
  readonly receipts: ReceiptReport
  readonly log: TaskLogPage
  readonly webhooks: { readonly taskId: string; readonly webhooks: readonly WebhookSummary[] }
  readonly export: ExportedTask
  readonly fork: TaskSummary
  readonly pauseTask: TaskSummary
  readonly resumeTask: TaskSummary
  readonly cancelTask: TaskSummary
  readonly remindTask: ReminderAccepted
  readonly answerTask: AnsweredTask
  readonly import: ImportedTask
  readonly waiting: WaitingList
  readonly overview: Overview
  readonly me: Me
  readonly agents: { readonly agents: readonly AgentSummary[] }
  readonly workers: { readonly workers: readonly WorkerSummary[] }
  readonly queues: { readonly queues: readonly QueueSummary[] }
  readonly holds: { readonly holds: readonly HoldSummary[] }
  readonly showHold: HoldSummary
  readonly hold: HoldResult
  readonly previewHold: HoldPreview
  readonly lift: LiftResult
  readonly budgets: { readonly budgets: readonly BudgetSummary[] }
  readonly setBudget: BudgetResult
  readonly refillBudget: BudgetResult
  readonly removeBudget: { readonly budgetId: string; readonly resumed: number }
  readonly rules: { readonly rules: readonly RuleSummary[] }
  readonly addRule: RuleSummary
  readonly dryRunRule: RuleDryRun
  readonly removeRule: { readonly ruleId: string }
  readonly audit: AuditPage
  readonly schedules: { readonly schedules: readonly ScheduleSummary[] }
  readonly pauseSchedule: ScheduleSummary
  readonly resumeSchedule: ScheduleSummary
  readonly runSchedule: ScheduleRun
  readonly openapi: Readonly<Record<string, unknown>>
}

export type OpsRouteName = keyof OpsAnswers

/** The path is the one below the address of the server. `{id}` stands for one segment. */
export type OpsAddress = readonly [method: 'GET' | 'POST' | 'DELETE', path: string]

export const opsAddresses: Readonly<Record<OpsRouteName, OpsAddress>> = {
  tasks: ['GET', '/ops/tasks'],
  task: ['GET', '/ops/tasks/{id}'],
  receipts: ['GET', '/ops/tasks/{id}/receipts'],
  log: ['GET', '/ops/tasks/{id}/log'],
  webhooks: ['GET', '/ops/tasks/{id}/webhooks'],
  export: ['GET', '/ops/tasks/{id}/export'],
  fork: ['POST', '/ops/tasks/{id}/fork'],
  pauseTask: ['POST', '/ops/tasks/{id}/pause'],
  resumeTask: ['POST', '/ops/tasks/{id}/resume'],
  cancelTask: ['POST', '/ops/tasks/{id}/cancel'],
  remindTask: ['POST', '/ops/tasks/{id}/remind'],
  answerTask: ['POST', '/ops/tasks/{id}/answer'],
  import: ['POST', '/ops/imports'],
  waiting: ['GET', '/ops/waiting'],
  overview: ['GET', '/ops/overview'],
  me: ['GET', '/ops/me'],
  agents: ['GET', '/ops/agents'],
  workers: ['GET', '/ops/workers'],
  queues: ['GET', '/ops/queues'],
  holds: ['GET', '/ops/holds'],
  showHold: ['GET', '/ops/holds/{id}'],
  hold: ['POST', '/ops/holds'],
  previewHold: ['POST', '/ops/holds:preview'],
  lift: ['DELETE', '/ops/holds/{id}'],
  budgets: ['GET', '/ops/budgets'],
  setBudget: ['POST', '/ops/budgets'],
  refillBudget: ['POST', '/ops/budgets/{id}/refill'],
  removeBudget: ['DELETE', '/ops/budgets/{id}'],
  rules: ['GET', '/ops/rules'],
  addRule: ['POST', '/ops/rules'],
  dryRunRule: ['POST', '/ops/rules:dry-run'],
  removeRule: ['DELETE', '/ops/rules/{id}'],
  audit: ['GET', '/ops/audit'],
  schedules: ['GET', '/ops/schedules'],
  pauseSchedule: ['POST', '/ops/schedules/{id}/pause'],
  resumeSchedule: ['POST', '/ops/schedules/{id}/resume'],
  runSchedule: ['POST', '/ops/schedules/{id}/run'],
  openapi: ['GET', '/ops/openapi.json'],
}

/** Routes that answer with server-sent events, or can. */
export const opsStreamAddresses: Readonly<Record<'timeline' | 'changes', OpsAddress>> = {
  timeline: ['GET', '/ops/tasks/{id}/timeline'],
  changes: ['GET', '/ops/changes'],
}
