/** The `/ops` interface of a Lull server: lists, timelines, holds, receipts and live changes, for operators. */
import type { JsonInput } from '../core/values/json.ts'
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
import { createServerCalls, type Query } from './server-calls.ts'
import type { ConnectionOptions } from './wire/http-client.ts'

export interface OpsOptions extends ConnectionOptions {
  /** The address of the server, or of an agent on it. */
  readonly url: string
  /** Default: the tenant of the credential. `*` means all tenants. */
  readonly tenant?: string | undefined
}

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
  /** Which tasks share the budget, written as the scope of a hold. */
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
  /** Passed to the new task as the input of its resume. */
  readonly input?: JsonInput | undefined
  /** The new task stays paused until it is resumed. */
  readonly paused?: boolean | undefined
  /** A caller that repeats the request with the same key gets the task of the first request. */
  readonly idempotencyKey?: string | undefined
}

export interface PageInput {
  /** The `cursor` of the previous page. */
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
  /** The whole stored task, for replays. */
  log(taskId: string): Promise<TaskLog>
  /** One page of the log. All pages show the task as it was when the first page was read. */
  logPage(taskId: string, page?: PageInput): Promise<TaskLogPage>
  /** How far the events of the task have reached its webhooks. */
  webhooks(taskId: string): Promise<readonly WebhookSummary[]>
  /** The whole log of a task, signed for outsiders. With `redacted` its content is replaced by hashes. */
  export(taskId: string, redacted?: boolean): Promise<ExportedTask>
  /** Starts a new task from the recorded past of this one. */
  fork(taskId: string, input: ForkInput): Promise<TaskSummary>
  /** Imports an exported task. An open task is held, unless `start` is true. */
  import(exported: ExportedTask, start?: boolean): Promise<ImportedTask>
  /** The processes that share the store. */
  workers(): Promise<readonly WorkerSummary[]>
  /** How busy each agent is in the process that answers. */
  queues(): Promise<readonly QueueSummary[]>
  agents(): Promise<readonly AgentSummary[]>
  /** The holds in effect, each with the first ids of the tasks that it names. */
  holds(): Promise<readonly HoldSummary[]>
  /** One hold in effect, with the ids of all tasks that it names. */
  showHold(holdId: string): Promise<HoldSummary>
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
  /** What the rule would have stopped in the last day. Adds no rule. */
  dryRunRule(input: RuleInput): Promise<RuleDryRun>
  /** The audit log: who did what, and which attempts were refused. */
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
  const { call, events, send, urlOf } = createServerCalls(options.url, options, 'has no /ops')
  const tenant: Query = options.tenant === undefined ? [] : [['tenant', options.tenant]]
  const url = (path: string, query: Query = []): string =>
    urlOf(`ops/${path}`, [...query, ...tenant])
  const get = <T>(path: string, query?: Query): Promise<T> => call('GET', url(path, query))
  const post = <T>(path: string, body?: object): Promise<T> => call('POST', url(path), body)
  const remove = <T>(path: string): Promise<T> => call('DELETE', url(path))
  /** For answers that are an object with one list. */
  const list = async <K extends string, T>(name: K, path: string = name): Promise<T> =>
    (await get<Record<K, T>>(path))[name]

  const logPage: Ops['logPage'] = (id, page = {}) => get(at`tasks/${id}/log`, queryOf(page))

  return {
    tasks: (filter = {}) => get('tasks', queryOf(filter)),
    task: (id) => get(at`tasks/${id}`),
    timeline: (id, after = 0) => get(at`tasks/${id}/timeline`, [['after', `${after}`]]),
    follow: (id, after, signal) =>
      events(url(at`tasks/${id}/timeline`, [['after', `${after}`]]), signal),
    receipts: (id) => get(at`tasks/${id}/receipts`),
    log: (id) => readWholeLog((page) => logPage(id, page)),
    logPage,
    webhooks: (id) => list('webhooks', at`tasks/${id}/webhooks`),
    export: (id, redacted) => get(at`tasks/${id}/export`, redacted ? [['redacted', 'true']] : []),
    fork: (id, input) => post(at`tasks/${id}/fork`, input),
    import({ header, records }, start) {
      const lines = [header, ...records].map((line) => `${JSON.stringify(line)}\n`)
      const target = url('imports', start ? [['start', 'true']] : [])
      return send('POST', target, 'application/x-ndjson', lines.join(''))
    },
    workers: () => list('workers'),
    queues: () => list('queues'),
    agents: () => list('agents'),
    holds: () => list('holds'),
    showHold: (id) => get(at`holds/${id}`),
    previewHold: (input) => post('holds:preview', input),
    hold: (input) => post('holds', input),
    lift: (id) => remove(at`holds/${id}`),
    budgets: () => list('budgets'),
    setBudget: (input) => post('budgets', input),
    refillBudget: (id, input = {}) => post(at`budgets/${id}/refill`, input),
    removeBudget: (id) => remove(at`budgets/${id}`),
    rules: () => list('rules'),
    addRule: (input) => post('rules', input),
    removeRule: (id) => remove(at`rules/${id}`),
    dryRunRule: (input) => post('rules:dry-run', input),
    audit: (filter = {}) => get('audit', queryOf(filter)),
    schedules: () => list('schedules'),
    pauseSchedule: (id) => post(at`schedules/${id}/pause`),
    resumeSchedule: (id) => post(at`schedules/${id}/resume`),
    runSchedule: (id) => post(at`schedules/${id}/run`),
    changes: (signal) => events(url('changes'), signal),
  }
}

/** A path with encoded ids. */
function at(path: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: path }, ...ids.map(encodeURIComponent))
}

/** One query parameter for each member, and one `state` for each of the states. */
function queryOf({ states = [], ...members }: TaskFilter & AuditFilter): Query {
  return [
    ...states.map((state) => ['state', state] as const),
    ...Object.entries(members).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    ),
  ]
}

/** Joins all pages of a log. @throws ClientError when the first page has no task */
async function readWholeLog(pageAt: (page: PageInput) => Promise<TaskLogPage>): Promise<TaskLog> {
  const records: TaskLog['records'][number][] = []
  let first: TaskLogPage | undefined
  for await (const page of readPages((cursor) => pageAt({ cursor }))) {
    first ??= page
    if (first.task === undefined) break
    for (const record of page.records) records.push(record)
  }
  const { task, faults, past, row } = first ?? {}
  if (task === undefined || faults === undefined || past === undefined) {
    throw new ClientError('unreachable', 'the server sent no task', { reason: 'NOT_LULL' })
  }
  return { task, row, records, faults, past }
}

/** Reads one page after the other, until a page has no cursor. */
export async function* readPages<Page extends { readonly cursor?: string | undefined }>(
  readPage: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void> {
  let cursor: string | undefined
  do {
    const page = await readPage(cursor)
    yield page
    cursor = page.cursor
  } while (cursor !== undefined)
}

const scopeNames: Readonly<Record<string, string>> = { contextId: 'context', taskIds: 'task' }

/** The scope of a hold, a budget or a rule, in words. */
export function scopeText(scope: Readonly<Record<string, unknown>>): string {
  if (scope['all'] === true) return 'every task'
  return Object.entries(scope)
    .map(([name, value]) => {
      const ids = Array.isArray(value) ? value.join(', ') : String(value)
      return `${scopeNames[name] ?? name} ${ids}`
    })
    .join(', ')
}
