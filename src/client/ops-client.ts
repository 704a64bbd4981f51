/** The `/ops` interface of a Lull server: lists, timelines, holds, receipts and live changes, for operators. */
import type { JsonInput } from '../core/json.ts'
import type { AgentSummary } from '../wire/ops/agents.ts'
import type { AuditPage } from '../wire/ops/audit.ts'
import type { HoldPreview, HoldResult, HoldSummary, LiftResult } from '../wire/ops/holds.ts'
import type {
  ExportedTask,
  ImportedTask,
  ReceiptReport,
  TaskLog,
  TaskLogPage,
} from '../wire/ops/logs.ts'
import type { BudgetResult, BudgetSummary, RuleDryRun, RuleSummary } from '../wire/ops/policies.ts'
import type { QueueSummary, WorkerSummary } from '../wire/ops/processes.ts'
import type { ScheduleRun, ScheduleSummary } from '../wire/ops/schedules.ts'
import type { Changes, TaskList, TaskSummary } from '../wire/ops/tasks.ts'
import type { TimelineEntry, TimelinePage } from '../wire/ops/timeline.ts'
import type { WebhookSummary } from '../wire/ops/webhooks.ts'
import { ClientError } from './client-error.ts'
import { createOpsCalls, type OpsOptions } from './server-calls.ts'

export type { OpsOptions } from './server-calls.ts'

export interface TaskFilter {
  readonly states?: readonly string[] | undefined
  readonly agent?: string | undefined
  readonly contextId?: string | undefined
  readonly parentId?: string | undefined
  readonly held?: boolean | undefined
  /** Words that a task must show, or parts of its id. Reads at most 1,000 tasks; `cursor` continues with older ones. */
  readonly q?: string | undefined
  /** False: without counts per state, which saves the server a query for each state. */
  readonly counts?: boolean | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export interface HoldInput {
  /** `{all: true}`, or an object with one of `tenant`, `agent`, `contextId`, `taskIds`. */
  readonly scope: Readonly<Record<string, unknown>>
  readonly reason: string
  readonly holdNew?: boolean | undefined
}

export interface BudgetInput {
  /** As of a hold. */
  readonly scope: Readonly<Record<string, unknown>>
  readonly measure: BudgetSummary['measure']
  readonly limit: number
  /** Default `life`. */
  readonly per?: BudgetSummary['per'] | undefined
  /** False: tasks that the budget has stopped stay stopped. */
  readonly resume?: boolean | undefined
}

export interface RefillInput {
  /** Absent: the count starts again at zero. */
  readonly amount?: number | undefined
  readonly resume?: boolean | undefined
}

/** Has exactly one of `onEvent`, `filter` and `budget`. */
export interface RuleInput extends HoldInput {
  readonly onEvent?: string | undefined
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  readonly budget?: { readonly id: string; readonly percent: number } | undefined
  readonly mode?: RuleSummary['mode'] | undefined
}

export interface ForkInput {
  /** The operation that runs next: its name, with `#2` for the second of that name, or the number of its record. */
  readonly at: string
  /** What the new task gets as the input of its wake. */
  readonly input?: JsonInput | undefined
  /** The new task stays paused until it is resumed. */
  readonly paused?: boolean | undefined
  /** A second request of the same caller with the same key gets the task of the first one. */
  readonly idempotencyKey?: string | undefined
}

export interface PageInput {
  /** As the page before gave it. */
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export interface AuditFilter {
  /** An ISO 8601 instant. */
  readonly since?: string | undefined
  readonly principal?: string | undefined
  readonly taskId?: string | undefined
  /** `asc`, the default: oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc' | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export interface Ops {
  tasks(filter?: TaskFilter): Promise<TaskList>
  task(taskId: string): Promise<TaskSummary>
  timeline(taskId: string, after?: number): Promise<TimelinePage>
  /** Entries after a position, then live until the task has ended. */
  follow(taskId: string, after: number, signal: AbortSignal): AsyncGenerator<TimelineEntry, void>
  receipts(taskId: string): Promise<ReceiptReport>
  /** Everything that is stored of a task, for replays. */
  log(taskId: string): Promise<TaskLog>
  /** One page of it. All pages show the task as it was when the first one was asked for. */
  logPage(taskId: string, page?: PageInput): Promise<TaskLogPage>
  /** How far the events of the task have reached its webhooks. */
  webhooks(taskId: string): Promise<readonly WebhookSummary[]>
  /** The whole log of a task, signed for outsiders. With `redacted` its content is replaced by hashes. */
  export(taskId: string, redacted?: boolean): Promise<ExportedTask>
  /** Starts a new task from the recorded past of this one. */
  fork(taskId: string, input: ForkInput): Promise<TaskSummary>
  /** Takes over an exported task. It arrives held, unless it has ended or `start` is given. */
  import(exported: ExportedTask, start?: boolean): Promise<ImportedTask>
  /** The processes that share the store. */
  workers(): Promise<readonly WorkerSummary[]>
  /** How busy each agent of the process that answers is. */
  queues(): Promise<readonly QueueSummary[]>
  agents(): Promise<readonly AgentSummary[]>
  holds(): Promise<readonly HoldSummary[]>
  previewHold(input: HoldInput): Promise<HoldPreview>
  hold(input: HoldInput): Promise<HoldResult>
  lift(holdId: string): Promise<LiftResult>
  budgets(): Promise<readonly BudgetSummary[]>
  setBudget(input: BudgetInput): Promise<BudgetResult>
  refillBudget(budgetId: string, input?: RefillInput): Promise<BudgetResult>
  removeBudget(budgetId: string): Promise<{ readonly budgetId: string; readonly resumed: number }>
  rules(): Promise<readonly RuleSummary[]>
  addRule(input: RuleInput): Promise<RuleSummary>
  removeRule(ruleId: string): Promise<{ readonly ruleId: string }>
  /** What such a rule would have stopped in the last day. */
  dryRunRule(input: RuleInput): Promise<RuleDryRun>
  /** Who did what, and what was refused. */
  audit(filter?: AuditFilter): Promise<AuditPage>
  schedules(): Promise<readonly ScheduleSummary[]>
  /** The id is `agent:name`. */
  pauseSchedule(id: string): Promise<ScheduleSummary>
  resumeSchedule(id: string): Promise<ScheduleSummary>
  /** Starts a task of the schedule now. */
  runSchedule(id: string): Promise<ScheduleRun>
  /** The first message says that the feed is open. Ends with the connection. */
  changes(signal: AbortSignal): AsyncGenerator<Changes, void>
}

export function createOps(options: OpsOptions): Ops {
  const { urlOf, call, sendLines, events } = createOpsCalls(options)
  const taskPath = (taskId: string, rest = ''): string =>
    `tasks/${encodeURIComponent(taskId)}${rest}`

  const logPage: Ops['logPage'] = (taskId, page = {}) =>
    call('GET', urlOf(taskPath(taskId, '/log'), queryOf(page)))

  const budgetPath = (id: string, rest = ''): string => `budgets/${encodeURIComponent(id)}${rest}`
  const schedulePath = (id: string, act: string): string =>
    `schedules/${encodeURIComponent(id)}/${act}`

  return {
    tasks: (filter = {}) => call('GET', urlOf('tasks', queryOf(filter))),
    task: (taskId) => call('GET', urlOf(taskPath(taskId))),
    timeline: (taskId, after = 0) =>
      call('GET', urlOf(taskPath(taskId, '/timeline'), [['after', String(after)]])),
    follow: (taskId, after, signal) =>
      events(urlOf(taskPath(taskId, '/timeline'), [['after', String(after)]]), signal),
    receipts: (taskId) => call('GET', urlOf(taskPath(taskId, '/receipts'))),
    fork: (taskId, input) => call('POST', urlOf(taskPath(taskId, '/fork')), input),
    log: (taskId) => wholeLog((page) => logPage(taskId, page)),
    logPage,
    webhooks: async (taskId) =>
      (await call<{ webhooks: [] }>('GET', urlOf(taskPath(taskId, '/webhooks')))).webhooks,
    import: ({ header, records }, start = false) =>
      sendLines(urlOf('imports', start ? [['start', 'true']] : []), [header, ...records]),
    export: (id, redacted) => call('GET', urlOf(taskPath(id, '/export'), redaction(redacted))),
    agents: async () => (await call<{ agents: [] }>('GET', urlOf('agents'))).agents,
    queues: async () => (await call<{ queues: [] }>('GET', urlOf('queues'))).queues,
    workers: async () => (await call<{ workers: [] }>('GET', urlOf('workers'))).workers,
    holds: async () => (await call<{ holds: [] }>('GET', urlOf('holds'))).holds,
    previewHold: (input) => call('POST', urlOf('holds:preview'), input),
    hold: (input) => call('POST', urlOf('holds'), input),
    lift: (holdId) => call('DELETE', urlOf(`holds/${encodeURIComponent(holdId)}`)),
    budgets: async () => (await call<{ budgets: [] }>('GET', urlOf('budgets'))).budgets,
    setBudget: (input) => call('POST', urlOf('budgets'), input),
    refillBudget: (id, input = {}) => call('POST', urlOf(budgetPath(id, '/refill')), input),
    removeBudget: (id) => call('DELETE', urlOf(budgetPath(id))),
    rules: async () => (await call<{ rules: [] }>('GET', urlOf('rules'))).rules,
    addRule: (input) => call('POST', urlOf('rules'), input),
    removeRule: (id) => call('DELETE', urlOf(`rules/${encodeURIComponent(id)}`)),
    dryRunRule: (input) => call('POST', urlOf('rules:dry-run'), input),
    audit: (filter = {}) => call('GET', urlOf('audit', queryOf(filter))),
    schedules: async () => (await call<{ schedules: [] }>('GET', urlOf('schedules'))).schedules,
    pauseSchedule: (id) => call('POST', urlOf(schedulePath(id, 'pause'))),
    resumeSchedule: (id) => call('POST', urlOf(schedulePath(id, 'resume'))),
    runSchedule: (id) => call('POST', urlOf(schedulePath(id, 'run'))),
    changes: (signal) => events(urlOf('changes'), signal),
  }
}

function queryOf({
  states = [],
  held,
  counts,
  limit,
  ...texts
}: TaskFilter & AuditFilter): (readonly [string, string])[] {
  return [
    ...states.map((state) => ['state', state] as const),
    ...(held === undefined ? [] : [['held', String(held)] as const]),
    ...(counts === undefined ? [] : [['counts', String(counts)] as const]),
    ...(limit === undefined ? [] : [['limit', String(limit)] as const]),
    ...Object.entries(texts).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  ]
}

/** @throws ClientError when the first page is not one */
async function wholeLog(pageAt: (page: PageInput) => Promise<TaskLogPage>): Promise<TaskLog> {
  const { cursor: second, task, faults, past, row, records: first } = await pageAt({})
  if (task === undefined || faults === undefined || past === undefined) {
    throw new ClientError('unreachable', 'the server sent no task', { reason: 'NOT_LULL' })
  }
  const records = [...first]
  for (let cursor = second; cursor !== undefined; ) {
    const page: TaskLogPage = await pageAt({ cursor })
    for (const record of page.records) records.push(record)
    cursor = page.cursor
  }
  return { task, row, records, faults, past }
}

function redaction(redacted = false): readonly (readonly [string, string])[] {
  return redacted ? [['redacted', 'true']] : []
}
