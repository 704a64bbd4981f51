import type { LogRecord } from '../records.ts'
import { type Reminded, remembering } from '../reminders.ts'
import type { Task } from '../task.ts'

const nobody: readonly Reminded[] = []

/** The task a log begins with. Every key is there from the start, so that all tasks have one shape. */
export function born(record: LogRecord & { readonly type: 'submitted' }): Task {
  return {
    id: record.taskId,
    tenant: record.tenant,
    principal: record.principal,
    agent: record.agent,
    contextId: record.contextId,
    parentId: record.parentId,
    origin: record.origin,
    metadata: record.metadata,
    version: record.seq,
    createdAt: record.at,
    updatedAt: record.at,
    state: 'submitted',
    statusAt: record.at,
    statusMessage: undefined,
    progress: undefined,
    history: [record.message],
    artifacts: [],
    failure: undefined,
    queued: [record.message],
    question: undefined,
    pausing: undefined,
    suspension: undefined,
    epoch: 0,
    wake: undefined,
    wakeUnseen: undefined,
    resumes: [],
    holds: [],
    deferred: undefined,
    run: undefined,
    deaths: 0,
    turn: 0,
    journal: { generation: 0, afterSeq: 0, countFrom: 0, voided: [] },
    reminders: (record.reminders ?? []).map((reminder) => ({ reminder })),
    reminded: (record.reminders ?? []).reduce((known, one) => remembering(known, one), nobody),
    children: [],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    eventsAfter: record.eventsAfter,
    consumed: [],
    receipts: { count: 0, head: '' },
  }
}

/** Every key of a task, also those that may be undefined: none can be forgotten. */
type Whole = { -readonly [K in keyof Required<Task>]: Task[K] }

/** The task after a record that changes nothing else. A literal: twenty times as quick as spreading so many keys. */
export function copied(task: Task, record: LogRecord): Whole {
  return {
    id: task.id,
    tenant: task.tenant,
    principal: task.principal,
    agent: task.agent,
    contextId: task.contextId,
    parentId: task.parentId,
    origin: task.origin,
    metadata: task.metadata,
    version: record.seq,
    createdAt: task.createdAt,
    updatedAt: record.at,
    state: task.state,
    statusAt: task.statusAt,
    statusMessage: task.statusMessage,
    progress: task.progress,
    history: task.history,
    artifacts: task.artifacts,
    failure: task.failure,
    queued: task.queued,
    question: task.question,
    pausing: task.pausing,
    suspension: task.suspension,
    epoch: task.epoch,
    wake: task.wake,
    wakeUnseen: task.wakeUnseen,
    resumes: task.resumes,
    holds: task.holds,
    deferred: task.deferred,
    run: task.run,
    deaths: task.deaths,
    turn: task.turn,
    journal: task.journal,
    reminders: task.reminders,
    reminded: task.reminded,
    children: task.children,
    usage: task.usage,
    eventsAfter: task.eventsAfter,
    consumed: task.consumed,
    receipts: task.receipts,
  }
}
