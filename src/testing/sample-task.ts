/** Commits for store tests: shaped like real commits, and small enough to read in a failing test. */
import type { Budget } from '../core/budgets/budget.ts'
import { evolve } from '../core/evolve.ts'
import type { Message } from '../core/messages/message.ts'
import type { LogRecord } from '../core/records.ts'
import type { Task } from '../core/task.ts'
import type { CloudEvent } from '../core/waiting/cloud-event.ts'
import type { Claim } from '../ports/store/claims.ts'
import type { Hold } from '../ports/store/holds.ts'
import type { Commit, TaskRow } from '../ports/store/tasks.ts'

export function sampleMessage(text: string): Message {
  return { messageId: `message-${text}`, role: 'ROLE_USER', parts: [{ text }] }
}

export function sampleRow(id: string, changes: Partial<TaskRow> = {}): TaskRow {
  return {
    id,
    tenant: 'acme',
    principal: 'ann',
    agent: 'travel',
    contextId: `context-of-${id}`,
    state: 'working',
    createdAt: 1_000,
    statusAt: 1_000,
    held: false,
    waits: [],
    ...changes,
  }
}

/** The records after `version`, one per text. */
export function sampleRecords(version: number, ...texts: readonly string[]): readonly LogRecord[] {
  return texts.map((text, index) => ({
    type: 'message',
    message: sampleMessage(text),
    seq: version + 1 + index,
    at: 1_000 + version + index,
  }))
}

/** The first commit of a task: two records. */
export function creation(
  id: string,
  row: Partial<TaskRow> = {},
  more: Partial<Commit> = {},
): Commit {
  const records = sampleRecords(0, 'born', 'started')
  const whole = sampleRow(id, row)
  return { tenant: whole.tenant, taskId: id, expected: 0, records, row: whole, ...more }
}

/** A later commit: one record, no column changed. */
export function step(id: string, expected: number, more: Partial<Commit> = {}): Commit {
  const records = sampleRecords(expected, `step ${expected + 1}`)
  return { tenant: more.row?.tenant ?? 'acme', taskId: id, expected, records, ...more }
}

/** A commit that no store can write, because a value in it is not JSON. */
export function poison(id: string, expected: number): Commit {
  const record: LogRecord = { type: 'value', key: 'k', value: 1, seq: expected + 1, at: 1_000 }
  return { ...step(id, expected), records: [Object.assign(record, { value: 1n })] }
}

export function sampleSnapshot(id: string, version: number): Task {
  const { tenant, principal, agent, contextId } = sampleRow(id)
  const message = sampleMessage('born')
  const submission = { taskId: id, tenant, principal, agent, contextId, message, eventsAfter: 0 }
  return { ...evolve(undefined, { type: 'submitted', ...submission, seq: 1, at: 1_000 }), version }
}

export function sampleClaim(taskId: string, changes: Partial<Claim> = {}): Claim {
  return {
    tenant: 'acme',
    principal: 'ann',
    agent: 'travel',
    key: 'key-1',
    taskId,
    digest: 'digest-1',
    createdAt: 1_000,
    ...changes,
  }
}

export function sampleEvent(id: string, changes: Partial<CloudEvent> = {}): CloudEvent {
  return { id, source: 'ci', type: 'build.done', ...changes }
}

export function sampleHold(id: string, changes: Partial<Hold> = {}): Hold {
  return {
    id,
    owner: '*',
    scope: { all: true },
    reason: 'maintenance',
    holdNew: false,
    actor: { kind: 'operator', id: 'olga' },
    createdAt: 1_000,
    ...changes,
  }
}

export function sampleBudget(id: string, changes: Partial<Budget> = {}): Budget {
  return {
    kind: 'budget',
    id,
    version: 1,
    owner: 'acme',
    scope: { tenant: 'acme', agent: 'travel' },
    measure: 'tokens',
    limit: 1_000,
    per: 'day',
    actor: { kind: 'operator', id: 'alice' },
    createdAt: 10,
    startedAt: 10,
    ...changes,
  }
}
