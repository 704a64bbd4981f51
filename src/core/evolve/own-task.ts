import type { LogRecord } from '../records.ts'
import { type AcceptedReminder, remembering } from '../reminders/reminders.ts'
import type { Task } from '../task.ts'

/**
 * A task that may still be changed in place. Every key is present, also those whose value may be
 * undefined.
 */
export type OwnTask = { -readonly [K in keyof Required<Task>]: Task[K] }

const noReminded: readonly AcceptedReminder[] = []
const none: readonly never[] = []
const firstJournal: Task['journal'] = { generation: 0, afterSeq: 0, countFrom: 0, voided: none }
export const noUsage: Task['usage'] = { inputTokens: 0, outputTokens: 0, costUsd: 0 }
const noReceipts: Task['receipts'] = { count: 0, head: '' }

/** The task after the first record of a log. Every key is set from the start, so that all tasks have one hidden class. */
export function createTask(record: LogRecord & { readonly type: 'submitted' }): OwnTask {
  const messages = [record.message]
  const { reminders = none } = record
  return {
    id: record.taskId,
    tenant: record.tenant,
    principal: record.principal,
    agent: record.agent,
    contextId: record.contextId,
    parentId: record.parentId,
    depth: record.depth,
    forkedFrom: undefined,
    origin: record.origin,
    metadata: record.metadata,
    input: record.input,
    version: record.seq,
    createdAt: record.at,
    updatedAt: record.at,
    state: 'submitted',
    statusAt: record.at,
    statusMessage: undefined,
    progress: undefined,
    history: messages,
    artifacts: none,
    failure: undefined,
    queued: messages,
    question: undefined,
    lastAnswer: undefined,
    pausing: undefined,
    suspension: undefined,
    epoch: 0,
    wake: undefined,
    wakeUnseen: undefined,
    resumes: none,
    holds: none,
    deferred: undefined,
    run: undefined,
    trace: record.trace,
    deaths: 0,
    abandoned: none,
    turn: 0,
    journal: firstJournal,
    reminders: reminders.length === 0 ? none : reminders.map((reminder) => ({ reminder })),
    reminded: reminders.reduce((known, one) => remembering(known, one), noReminded),
    children: none,
    usage: noUsage,
    eventsAfter: record.eventsAfter,
    consumed: none,
    receipts: noReceipts,
  }
}

/** Copies with an object literal, because spreading so many keys takes twenty times as long. */
export function copyTask(task: Task): OwnTask {
  return {
    id: task.id,
    tenant: task.tenant,
    principal: task.principal,
    agent: task.agent,
    contextId: task.contextId,
    parentId: task.parentId,
    depth: task.depth,
    forkedFrom: task.forkedFrom,
    origin: task.origin,
    metadata: task.metadata,
    input: task.input,
    version: task.version,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    state: task.state,
    statusAt: task.statusAt,
    statusMessage: task.statusMessage,
    progress: task.progress,
    history: task.history,
    artifacts: task.artifacts,
    failure: task.failure,
    queued: task.queued,
    question: task.question,
    lastAnswer: task.lastAnswer,
    pausing: task.pausing,
    suspension: task.suspension,
    epoch: task.epoch,
    wake: task.wake,
    wakeUnseen: task.wakeUnseen,
    resumes: task.resumes,
    holds: task.holds,
    deferred: task.deferred,
    run: task.run,
    trace: task.trace,
    deaths: task.deaths,
    abandoned: task.abandoned,
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
