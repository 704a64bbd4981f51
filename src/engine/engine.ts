/**
 * The engine: one method for each request, the same for every protocol. It puts the steps in order, and `core` decides.
 *
 *   request ──parse──▶ command ──decide──▶ records ──append──▶ store ──▶ runs, subscribers, timers ──▶ answer
 */
import type { Rule } from '../core/budgets/rule.ts'
import { LullError } from '../core/errors.ts'
import { noTextShown, type TextPosition } from '../core/messages/live-text.ts'
import type { MakePush, Push } from '../core/push.ts'
import type { PublicKey } from '../core/receipts/receipt.ts'
import type { TaskExport } from '../core/receipts/task-export.ts'
import type { LogRecord } from '../core/records.ts'
import type { Reminder } from '../core/reminders/reminders.ts'
import type { Signal } from '../core/signal.ts'
import type { ResumeAnswer, Task } from '../core/task.ts'
import { type Duration, durationMs } from '../core/values/duration.ts'
import { weightOf } from '../core/values/weight.ts'
import type { CloudEvent } from '../core/waiting/cloud-event.ts'
import type { Clock } from '../ports/clock.ts'
import type { Hold } from '../ports/store/holds.ts'
import { assemble } from './assemble.ts'
import type { Agent } from './author/agent.ts'
import type { Caller } from './caller.ts'
import type { WorkerSummary } from './cluster/worker-list.ts'
import { type EngineContext, taskFor } from './context.ts'
import type { EngineDeps } from './deps.ts'
import type { Health } from './executor/health.ts'
import type { LiftAnswer } from './holds/holds.ts'
import type { HoldAnswer, HoldRequest } from './holds/place-hold.ts'
import type { HoldPreview, HoldPreviewRequest } from './holds/preview-hold.ts'
import { cloudEvent, subscribeInput, waitInput } from './input/inputs.ts'
import { parse } from './input/parse.ts'
import type { CountRequest, ListRequest, SendRequest } from './input/requests.ts'
import { EVENTS } from './limits/quotas.ts'
import type { Audit } from './observe/audit.ts'
import { observedEngine } from './observe/observed-engine.ts'
import type {
  BudgetAnswer,
  BudgetInfo,
  RefillRequest,
  SetBudgetRequest,
} from './policies/budgets.ts'
import type { DryRun } from './policies/dry-run.ts'
import type { RuleRequest } from './policies/rules.ts'
import type { CancelRequest } from './requests/cancel-task.ts'
import type { ForkRequest } from './requests/fork/fork-task.ts'
import type { ExportRequest } from './requests/import/export-task.ts'
import type { ImportAnswer, ImportRequest } from './requests/import/import-task.ts'
import type {
  ParkTaskRequest,
  PauseAnswer,
  PauseDialect,
  PauseRequest,
} from './requests/pause-task.ts'
import {
  count,
  follow,
  list,
  rows,
  subscribe,
  type TaskCounts,
  type TaskFacts,
  type TaskPage,
  webhooks,
} from './requests/read-tasks.ts'
import {
  type ClearRemindersRequest,
  type RemindAnswer,
  type RemindRequest,
  reminders,
} from './requests/remind/reminders.ts'
import { type RecordedTask, recordedTask, storedRecords } from './requests/replay/recorded-task.ts'
import type { ResumeDialect, ResumeRequest } from './requests/resume-task.ts'
import type { AnswerRequest, AnswerResult } from './requests/send/answer-task.ts'
import type { SendResult } from './requests/send/send-result.ts'
import { verbMethods } from './requests/verbs.ts'
import { createVerify, type Verification } from './requests/verify-task.ts'
import { waitFor } from './requests/wait.ts'
import type { TaskReader } from './streams/log-reader.ts'
import type { RetentionReport } from './upkeep/retention.ts'
import type { EmittedEvent } from './wakes/events.ts'
import type { ScheduleInfo } from './wakes/schedules/schedules.ts'

export interface Engine {
  readonly agents: ReadonlyMap<string, Agent>
  /** The time of the store, for adapters: what they write to the store has the time of all processes that share it. */
  readonly clock: Clock

  /**
   * A message continues a task, answers its question, gets a stateless reply, or starts a task. `push` makes the
   * webhook that came with the message. The webhook is stored in the same commit; for a repeated message none is stored.
   */
  send(
    caller: Caller,
    request: SendRequest,
    options?: { readonly push?: MakePush },
  ): Promise<SendResult>
  /** Answers the open question of a task. The first answer counts; later ones are told whose it was. */
  answer(caller: Caller, request: AnswerRequest): Promise<AnswerResult>
  get(caller: Caller, taskId: string): Promise<Task>
  list(caller: Caller, request?: ListRequest): Promise<TaskPage>
  /** How many tasks there are of each state. States without a task are absent. */
  count(caller: Caller, request?: CountRequest): Promise<TaskCounts>
  /** What the store indexes of tasks, the latest change first: at most `most` of them. No log is read. */
  rows(
    caller: Caller,
    request: Omit<ListRequest, 'cursor' | 'limit'>,
    most: number,
  ): Promise<readonly TaskFacts[]>
  /** Resolves with the task when `wanted` returns true for it, or with the current task after `timeoutMs`. */
  waitFor(
    caller: Caller,
    taskId: string,
    wanted: (task: Task) => boolean,
    options?: { readonly timeoutMs?: Duration; readonly signal?: Signal },
  ): Promise<Task>
  /** The records after a sequence number, then live ones. Ends after the task's last record. */
  subscribe(
    caller: Caller,
    taskId: string,
    options?: { readonly after?: number; readonly signal?: Signal },
  ): Promise<AsyncGenerator<LogRecord, void>>

  /**
   * The same in batches, with the live text of steps between them. The caller must close the reader. `shown` is what a
   * reader already has of live text, when it connects again.
   */
  follow(
    caller: Caller,
    taskId: string,
    options?: { readonly after?: number; readonly shown?: readonly TextPosition[] },
  ): Promise<TaskReader>

  /**
   * Calls `changed` after every durable write to any task, in log order per task. Returns a function that stops it. On a
   * shared store, writes of other processes are told too, where `wants` says so (default: of all tasks); some may be missed.
   */
  watch(changed: (task: Task) => void, wants?: (taskId: string) => boolean): () => void

  pause(caller: Caller, request: PauseRequest, dialect?: PauseDialect): Promise<PauseAnswer>
  /** Parks a working task at its next boundary, for a worker outside of this process. */
  park(caller: Caller, request: ParkTaskRequest): Promise<PauseAnswer>
  resume(caller: Caller, request: ResumeRequest, dialect?: ResumeDialect): Promise<ResumeAnswer>
  cancel(caller: Caller, request: CancelRequest): Promise<Task>
  /**
   * Starts a new task from the recorded past of another, with the named operation as the next. What is recorded before it
   * is not executed again. The new task belongs to the owner of the other one, in a context of its own.
   */
  fork(caller: Caller, request: ForkRequest): Promise<Task>

  remind(caller: Caller, request: RemindRequest): Promise<RemindAnswer>
  reminders(caller: Caller, taskId: string): Promise<readonly Reminder[]>
  clearReminders(
    caller: Caller,
    request: ClearRemindersRequest,
  ): Promise<{ readonly clearedCount: number }>

  /** The webhooks of a task, with their secrets, and how far each has been delivered. */
  webhooks(caller: Caller, taskId: string): Promise<readonly Push[]>

  /** External events. When it resolves, the events are durable and the tasks that waited for them are woken. */
  emit(caller: Caller, events: readonly CloudEvent[]): Promise<readonly EmittedEvent[]>

  /**
   * Asked before a protocol stores something of its own, of about so many bytes.
   * @throws LullError `LIMIT_EXCEEDED` or `OVERLOADED`
   */
  admit(caller: Caller, bytes: number): Promise<void>

  /** What such a hold would stop. Stops nothing. */
  previewHold(caller: Caller, request: HoldPreviewRequest): Promise<HoldPreview>
  hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer>
  lift(caller: Caller, holdId: string): Promise<LiftAnswer>
  holds(caller: Caller): Promise<readonly Hold[]>
  /** The budgets of the caller's tenant, with their figures. */
  budgets(caller: Caller): Promise<readonly BudgetInfo[]>
  setBudget(caller: Caller, request: SetBudgetRequest): Promise<BudgetAnswer>
  refillBudget(caller: Caller, request: RefillRequest): Promise<BudgetAnswer>
  removeBudget(caller: Caller, budgetId: string): Promise<{ readonly resumed: number }>
  /** The rules of the caller's tenant. */
  rules(caller: Caller): Promise<readonly Rule[]>
  addRule(caller: Caller, request: RuleRequest): Promise<Rule>
  removeRule(caller: Caller, ruleId: string): Promise<void>
  /** What such a rule would have stopped in the last day. Stops nothing. */
  dryRunRule(caller: Caller, request: RuleRequest): Promise<DryRun>

  /**
   * Replaces the agents of this process, for a development server that loads code again. Runs in memory go on with the code
   * they started with. Tasks that start or wake later get the new code. A replaced agent is closed when no run and no message
   * uses it any more. On a shared store the other processes keep their agents: tasks of an agent that is only elsewhere go on
   * there, and tasks of an agent that is new here start here.
   */
  replaceAgents(agents: readonly Agent[]): Promise<void>

  /** The schedules of the agents, and their states. Only for operators, as the calls below. */
  schedules(caller: Caller): Promise<readonly ScheduleInfo[]>
  /** No time of the schedule `agent:name` starts a task until it is resumed, in any process. */
  pauseSchedule(caller: Caller, id: string): Promise<ScheduleInfo>
  resumeSchedule(caller: Caller, id: string): Promise<ScheduleInfo>
  /** Sends the message of the schedule now, whatever its times are and also while it is paused. */
  runSchedule(caller: Caller, id: string): Promise<SendResult>

  /**
   * For work that one process does for all that share the store. False: another one has it, for at most `forMs`. On an
   * embedded store it is always true. With 0 this process gives the work back.
   */
  takeDuty(name: string, forMs: number): Promise<boolean>

  /** Who did what to tasks and holds, and attempts that were refused. */
  readonly audit: Audit

  /** Folds the log of a task again and checks every receipt. */
  verify(caller: Caller, taskId: string): Promise<Verification>
  /** Everything that is stored of a task: its log, its row, and what it sees of its context. */
  recorded(caller: Caller, taskId: string): Promise<RecordedTask>
  /** The records of a task after that one, as they are stored, oldest first. Ends with the newest. */
  storedRecords(
    caller: Caller,
    taskId: string,
    after: number,
  ): Promise<AsyncGenerator<LogRecord, void>>
  /** The whole log of a task, signed for outsiders. */
  exportTask(caller: Caller, request: ExportRequest): Promise<TaskExport>
  /** Takes over a task from an export. It arrives held, unless it has ended. */
  importTask(caller: Caller, request: ImportRequest): Promise<ImportAnswer>
  /** The public keys that verify receipts: of the key that signs, and of former keys. */
  readonly receiptKeys: readonly PublicKey[]
  health(): Promise<Health>
  /** The id of this process among those that share the store. It changes when the process loses its lease. */
  worker(): string
  /** The processes that share the store. */
  workers(): Promise<readonly WorkerSummary[]>

  /** Removes data that is older than the configured ages. The engine also does this once an hour. */
  prune(): Promise<RetentionReport>

  /** Takes over the tasks of dead processes and starts timers and events. Call it once, before any other method. */
  start(): Promise<void>
  /**
   * Stops the engine: it refuses new work and brings runs to a boundary within `timeoutMs`. Tasks go on in the next
   * process.
   */
  drain(options?: { readonly timeoutMs?: Duration }): Promise<void>
}

const DRAIN_MS = 10_000

/** Events of one batch. Each is compared with every filter that names no type. */
const MAX_EVENTS = 1_000

export function createEngine(deps: EngineDeps): Engine {
  const parts = assemble(deps)
  const { context, lifecycle, workers, replaceAgents } = parts

  const engine: Omit<Engine, 'audit'> = {
    agents: context.agents,
    clock: context.clock,
    get: (caller, taskId) => taskFor(context, caller, taskId, 'read'),
    list: (caller, request) => list(context, caller, request),
    count: (caller, request) => count(context, caller, request),
    rows: (caller, request, most) => rows(context, caller, request, most),
    async waitFor(caller, taskId, wanted, options = {}) {
      const { timeoutMs = Number.POSITIVE_INFINITY } = parse(waitInput, options)
      const read = (): Promise<Task> => taskFor(context, caller, taskId, 'read')
      return waitFor(context, { taskId, wanted, timeoutMs, signal: options.signal, read })
    },
    subscribe: (caller, taskId, options) => subscribe(context, caller, taskId, options),
    async follow(caller, taskId, options = {}) {
      const { shown = noTextShown, ...place } = options
      const { after = 0 } = parse(subscribeInput, place)
      return follow(context, caller, taskId, after, shown)
    },
    webhooks: (caller, taskId) => webhooks(context, caller, taskId),
    watch: context.subscriptions.watchAll,
    takeDuty: async (name, forMs) => context.takeDuty(name, forMs),

    ...verbMethods(parts),
    reminders: (caller, taskId) => reminders(context, caller, taskId),

    emit: async (caller, given) => emitEvents(context, caller, given),
    admit: async (caller, bytes) => context.quotas.admit(caller, { tasks: 0, bytes }),
    replaceAgents,
    verify: createVerify(context),
    receiptKeys: context.signer.publicKeys,
    recorded: (...args) => recordedTask(context, ...args),
    storedRecords: (...args) => storedRecords(context, ...args),
    worker: workers.here,
    workers: workers.list,
    health: lifecycle.health,
    prune: lifecycle.prune,
    start: lifecycle.start,
    drain: async ({ timeoutMs = DRAIN_MS } = {}) =>
      lifecycle.drain(durationMs(timeoutMs, 'timeoutMs')),
  }
  return observedEngine(engine, context.audit, context.meter)
}

async function emitEvents(
  { quotas, events }: Pick<EngineContext, 'quotas' | 'events'>,
  { tenant }: Caller,
  given: readonly CloudEvent[],
): ReturnType<Engine['emit']> {
  if (!Array.isArray(given)) {
    throw new LullError('INVALID_INPUT', { path: 'events', problem: 'must be a list' })
  }
  if (given.length > MAX_EVENTS) {
    const problem = `must have at most ${MAX_EVENTS} events; send several batches`
    throw new LullError('INVALID_INPUT', { path: 'events', problem })
  }
  const rootOf = (index: number): string => (given.length === 1 ? '' : `events.${index}`)
  const parsed = given.map((event, index) => parse(cloudEvent, event, rootOf(index)))
  await quotas.admit({ tenant, principal: EVENTS }, { tasks: 0, bytes: weightOf(parsed) })
  return events.emit(tenant, parsed)
}
