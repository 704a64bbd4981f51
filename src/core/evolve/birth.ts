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
