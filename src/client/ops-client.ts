/** The `/ops` interface of a Lull server: lists, timelines, holds, receipts and live changes, for operators. */
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
} from '../wire/ops/control.ts'
import type {
  ExportedTask,
  ImportedTask,
  ReceiptReport,
  TaskLog,
  TaskLogPage,
} from '../wire/ops/logs.ts'
import {
  type OpsAddress,
  type OpsAnswers,
  type OpsRouteName,
  opsAddresses,
  opsStreamAddresses,
} from '../wire/ops/routes.ts'
import type {
  AgentSummary,
  AuditPage,
  Me,
  Overview,
  QueueSummary,
  WorkerSummary,
} from '../wire/ops/server.ts'
import type {
  AnsweredTask,
  Changes,
  ReminderAccepted,
  TaskList,
  TaskSummary,
  TimelineEntry,
  TimelinePage,
  WebhookSummary,
} from '../wire/ops/tasks.ts'
import { ClientError } from './client-error.ts'
import type {
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
import { createServerCalls, type Query } from './server-calls.ts'
import type { ConnectionOptions } from './wire/http-client.ts'

export interface OpsOptions extends ConnectionOptions {
  /** The address of the server, or of an agent on it. */
  readonly url: string
  /** Default: the tenant of the credential. `*` means all tenants. */
  readonly tenant?: string | undefined
}

export interface Ops {
  /** Who this client acts as, and what its credential allows. */
  me(): Promise<Me>
  /** What happened in the last hours, who is waited for, and what happens next. */
  overview(hours?: number): Promise<Overview>
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
  pause(taskId: string, input?: OpsPauseInput): Promise<TaskSummary>
  resume(taskId: string, input?: OpsResumeInput): Promise<TaskSummary>
  cancel(taskId: string, input?: { readonly reason?: string | undefined }): Promise<TaskSummary>
  remind(
    taskId: string,
    reminder: Readonly<Record<string, unknown>> & { readonly body: string },
  ): Promise<ReminderAccepted>
  /** Answers the open question. The first answer counts; later ones are refused, and told whose it was. */
  answer(taskId: string, input: AnswerInput): Promise<AnsweredTask>
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
  /** Only the scope counts. */
  previewHold(input: Pick<HoldInput, 'scope'>): Promise<HoldPreview>
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

/** What a request has besides its route. */
interface Asked {
  readonly id?: string
  readonly query?: Query
  readonly body?: object
}

export function createOps(options: OpsOptions): Ops {
  const { call, events, send, urlOf } = createServerCalls(options.url, options, 'has no /ops')
  const tenant: Query = options.tenant === undefined ? [] : [['tenant', options.tenant]]
  const urlTo = ([, path]: OpsAddress, id = '', query: Query = []): string =>
    urlOf(path.slice(1).replace('{id}', encodeURIComponent(id)), [...query, ...tenant])
  const ask = <R extends OpsRouteName>(name: R, given: Asked = {}): Promise<OpsAnswers[R]> => {
    const address = opsAddresses[name]
    return call(address[0], urlTo(address, given.id, given.query), given.body)
  }
  const askById =
    <R extends OpsRouteName>(name: R) =>
    (id: string) =>
      ask(name, { id })
  const askWith =
    <R extends OpsRouteName>(name: R) =>
    (body: object) =>
      ask(name, { body })

  const timelineOf = (id: string, after: number): string =>
    urlTo(opsStreamAddresses.timeline, id, [['after', `${after}`]])
  const logPage: Ops['logPage'] = (id, page = {}) => ask('log', { id, query: queryOf(page) })

  return {
    me: () => ask('me'),
    overview: (hours = 24) => ask('overview', { query: [['hours', `${hours}`]] }),
    tasks: (filter = {}) => ask('tasks', { query: queryOf(filter) }),
    task: askById('task'),
    timeline: (id, after = 0) => call('GET', timelineOf(id, after)),
    follow: (id, after, signal) => events(timelineOf(id, after), signal),
    receipts: askById('receipts'),
    log: (id) => readWholeLog((page) => logPage(id, page)),
    logPage,
    webhooks: async (id) => (await ask('webhooks', { id })).webhooks,
    export: (id, redacted) => ask('export', { id, query: redacted ? [['redacted', 'true']] : [] }),
    fork: (id, body) => ask('fork', { id, body }),
    pause: (id, body = {}) => ask('pauseTask', { id, body }),
    resume: (id, body = {}) => ask('resumeTask', { id, body }),
    cancel: (id, body = {}) => ask('cancelTask', { id, body }),
    remind: (id, reminder) => ask('remindTask', { id, body: { reminder } }),
    answer: (id, body) => ask('answerTask', { id, body }),
    import({ header, records }, start) {
      const lines = [header, ...records].map((line) => `${JSON.stringify(line)}\n`)
      const target = urlTo(opsAddresses.import, '', start ? [['start', 'true']] : [])
      return send('POST', target, 'application/x-ndjson', lines.join(''))
    },
    workers: async () => (await ask('workers')).workers,
    queues: async () => (await ask('queues')).queues,
    agents: async () => (await ask('agents')).agents,
    holds: async () => (await ask('holds')).holds,
    showHold: askById('showHold'),
    previewHold: askWith('previewHold'),
    hold: askWith('hold'),
    lift: askById('lift'),
    budgets: async () => (await ask('budgets')).budgets,
    setBudget: askWith('setBudget'),
    refillBudget: (id, body = {}) => ask('refillBudget', { id, body }),
    removeBudget: askById('removeBudget'),
    rules: async () => (await ask('rules')).rules,
    addRule: askWith('addRule'),
    removeRule: askById('removeRule'),
    dryRunRule: askWith('dryRunRule'),
    audit: (filter = {}) => ask('audit', { query: queryOf(filter) }),
    schedules: async () => (await ask('schedules')).schedules,
    pauseSchedule: askById('pauseSchedule'),
    resumeSchedule: askById('resumeSchedule'),
    runSchedule: askById('runSchedule'),
    changes: (signal) => events(urlTo(opsStreamAddresses.changes), signal),
  }
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
