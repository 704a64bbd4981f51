/**
 * Folds one record into a task. Pure and total over every log `decide` can produce, so a task is
 * `log.reduce(evolve, undefined)`, today, after a restart and in an audit alike.
 *
 * Invariants (evolve.test.ts, decide.property.test.ts):
 *  E1  the state moves only along `transitions`;
 *  E2  `version` is the sequence number of the last record;
 *  E3  `suspension` is set exactly while the state is paused, `question` while it is interrupted or was when paused;
 *  E4  a terminal task is never changed again.
 */
import type { Message } from './message.ts'
import type { LogRecord, RecordType, RunToken } from './records.ts'
import { afterTurn, type PendingReminder, type Reminder } from './reminders.ts'
import { canMove, isTerminal, type State } from './states.ts'
import { type Suspension, wakeOf } from './suspension.ts'
import { RESUME_MEMORY, type ResumeAnswer, type Task } from './task.ts'

type Of<T extends RecordType> = LogRecord & { readonly type: T }
type Change = Partial<Task>
type Fold<T extends RecordType> = (task: Task, record: Of<T>) => Change

export function evolve(task: Task | undefined, record: LogRecord): Task {
  if (record.type === 'submitted') {
    if (task !== undefined) throw new Error(`task ${task.id} was submitted already`)
    return born(record)
  }
  if (task === undefined) throw new Error(`a log begins with "submitted", not "${record.type}"`)
  if (isTerminal(task.state)) throw new Error(`task ${task.id} is ${task.state}: nothing follows`)
  const change = (folds[record.type] as Fold<RecordType>)(task, record)
  return { ...task, ...change, version: record.seq, updatedAt: record.at }
}

export function fold(log: readonly LogRecord[], from?: Task): Task | undefined {
  return log.reduce<Task | undefined>(evolve, from)
}

function born(record: Of<'submitted'>): Task {
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
    children: [],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    eventsAfter: record.eventsAfter,
    consumed: [],
    receipts: { count: 0, head: '' },
  }
}

const progressed: Change = { deaths: 0 }

const folds: { readonly [T in Exclude<RecordType, 'submitted'>]: Fold<T> } = {
  started: (task, { run, deaths, at }) => ({
    ...(task.state === 'submitted' ? move(task, 'working', at) : {}),
    run,
    deaths,
  }),
  released: () => ({ run: undefined, deaths: 0 }),
  message: (task, { message }) => ({
    history: [...task.history, message],
    queued: [...task.queued, message],
  }),

  step: (task, { topLevel }) => (topLevel ? { ...progressed, turn: task.turn + 1 } : progressed),
  attempt: () => progressed,
  skipped: () => progressed,
  value: () => progressed,
  'child-ended': () => progressed,
  'child-called': () => progressed,
  said: (task, { message, progress, at }) => ({
    ...progressed,
    ...(message === undefined ? { statusAt: at } : report(task, message, at)),
    ...(progress === undefined ? {} : { progress }),
  }),
  artifact: (task, record) => ({ ...progressed, artifacts: withArtifact(task, record) }),
  usage: (task, { usage }) => ({
    ...progressed,
    usage: {
      inputTokens: task.usage.inputTokens + (usage.inputTokens ?? 0),
      outputTokens: task.usage.outputTokens + (usage.outputTokens ?? 0),
      costUsd: task.usage.costUsd + (usage.costUsd ?? 0),
    },
  }),
  delegated: (task, { childId }) => ({ ...progressed, children: [...task.children, childId] }),

  'turn-started': (task, { turn, messages, reminders }) => ({
    ...progressed,
    turn,
    queued: task.queued.slice(messages.length),
    reminders: shown(task.reminders, reminders, turn),
    wakeUnseen: undefined,
  }),
  'reminders-shown': (task, { turn, reminders }) => ({
    ...progressed,
    reminders: shown(task.reminders, reminders, turn),
  }),
  'turn-ended': (task, { turn }) => ({
    ...progressed,
    reminders: afterTurn(task.reminders, turn).left,
  }),
  compacted: () => progressed,
  continued: (task, { seq, state }) => ({
    ...progressed,
    journal: {
      generation: task.journal.generation + 1,
      afterSeq: seq,
      countFrom: seq,
      state,
      ...(task.wake === undefined ? {} : { wake: task.wake }),
      voided: [],
    },
  }),
  voided: (task, { key }) => ({
    journal: { ...task.journal, voided: [...task.journal.voided, key] },
  }),

  asked: (task, { key, question, at }) => ({
    ...progressed,
    ...move(task, question.state, at),
    ...report(task, question.message, at),
    question: { ...question, key },
    run: undefined,
  }),
  'asked-again': (task, { answer, at }) => ({
    statusAt: at,
    // The prompt stays the status; the answer nobody could decide on is history.
    history: [...task.history, answer],
  }),
  answered: (task, { message, run, at }) => ({
    ...move(task, 'working', at),
    ...report(task, undefined, at),
    history: [...withStatus(task), message],
    question: undefined,
    deferred: undefined,
    run,
  }),

  'pause-requested': (task, { suspension, at }) => ({
    ...(task.state === 'submitted' ? move(task, 'working', at) : {}),
    pausing: suspension,
  }),
  'pause-upgraded': (task, { mode }) => ({
    pausing: task.pausing && { ...task.pausing, mode },
  }),
  'pause-kept': (task, { actor, reason }) => {
    const keep = (stop: Suspension | undefined): Suspension | undefined => {
      if (stop === undefined) return undefined
      const { byHold: _, ...rest } = stop
      return { ...rest, actor, ...(reason === undefined ? {} : { reason }) }
    }
    return { pausing: keep(task.pausing), suspension: keep(task.suspension) }
  },
  'pause-withdrawn': (task, { at, handle, cause, idempotencyKey }) => ({
    pausing: undefined,
    statusAt: at,
    resumes: remember(task, {
      handle,
      cause,
      resumedAt: at,
      hadResumeInput: false,
      continueTranscript: true,
      previousState: 'working',
      state: 'working',
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
  }),
  paused: (task, { handle, deadlineAt, fireAt, at }) => {
    const suspension = { ...requested(task, handle), pausedAt: at }
    const state = suspension.initiator === 'agent' ? 'paused-by-agent' : 'paused-by-client'
    return stop(task, state, suspension, { deadlineAt, fireAt }, at)
  },
  parked: (task, { suspension, at }) => ({
    ...progressed,
    ...stop(task, 'paused-by-agent', suspension, suspension, at),
  }),
  resumed: (task, record) => resumed(task, record),
  deferred: (_task, { deferred }) => ({ deferred }),
  held: (task, { holdId }) => ({ holds: [...task.holds, holdId] }),
  lifted: (task, { holdId }) => ({ holds: task.holds.filter((id) => id !== holdId) }),

  'reminder-injected': (task, { reminder }) => ({ reminders: [...task.reminders, { reminder }] }),
  'reminder-deduped': (task, { ids }) => ({ reminders: without(task.reminders, ids) }),
  'reminder-expired': (task, { ids }) => ({ reminders: without(task.reminders, ids) }),

  completed: (task, { message, at }) => end(task, 'completed', message, at),
  rejected: (task, { message, at }) => end(task, 'rejected', message, at),
  failed: (task, { message, failure, at }) => ({ ...end(task, 'failed', message, at), failure }),
  canceled: (task, { at }) => end(task, 'canceled', undefined, at),
  receipt: (_task, { receipt, hash }) => ({ receipts: { count: receipt.number, head: hash } }),
}

function move(
  task: Task,
  to: State,
  at: number,
): { readonly state: State; readonly statusAt: number } {
  if (!canMove(task.state, to))
    throw new Error(`task ${task.id}: ${task.state} cannot become ${to}`)
  return { state: to, statusAt: at }
}

/** A new status: the message of the one before it becomes history. */
function report(task: Task, message: Message | undefined, at: number): Change {
  return { statusAt: at, statusMessage: message, history: withStatus(task) }
}

function withStatus(task: Task): readonly Message[] {
  return task.statusMessage === undefined ? task.history : [...task.history, task.statusMessage]
}

function end(task: Task, state: State, message: Message | undefined, at: number): Change {
  return {
    ...move(task, state, at),
    ...report(task, message, at),
    queued: [],
    question: undefined,
    pausing: undefined,
    suspension: undefined,
    deferred: undefined,
    holds: [],
    run: undefined,
    reminders: [],
  }
}

function requested(task: Task, handle: string): Suspension {
  if (task.pausing?.handle !== handle)
    throw new Error(`task ${task.id}: ${handle} was not requested`)
  return task.pausing
}

function stop(
  task: Task,
  state: 'paused-by-client' | 'paused-by-agent',
  suspension: Suspension,
  times: { readonly deadlineAt?: number | undefined; readonly fireAt?: number | undefined },
  at: number,
): Change {
  const { deadlineAt, fireAt } = times
  return {
    ...move(task, state, at),
    pausing: undefined,
    epoch: suspension.epoch,
    run: undefined,
    suspension: {
      ...suspension,
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
      ...(fireAt === undefined ? {} : { fireAt }),
    },
  }
}

function resumed(task: Task, record: Of<'resumed'>): Change {
  const { suspension } = task
  if (suspension === undefined) throw new Error(`task ${task.id}: resumed without a suspension`)
  const { at, cause, handle, input, continueTranscript, eventPos, run } = record
  // A question that was paused comes back as it was; everything else goes on working.
  const state: State = task.question === undefined ? 'working' : task.question.state
  const pastLimit = suspension.reason === 'journal-limit'
  return {
    ...progressed,
    ...move(task, state, at),
    suspension: undefined,
    deferred: undefined,
    wake: wakeOf(suspension, record),
    wakeUnseen: true,
    run: runOf(state, run),
    resumes: remember(task, {
      handle,
      cause,
      resumedAt: at,
      hadResumeInput: input !== null,
      continueTranscript,
      previousState: task.state,
      state,
      ...(record.idempotencyKey === undefined ? {} : { idempotencyKey: record.idempotencyKey }),
    }),
    consumed: eventPos === undefined ? task.consumed : [...task.consumed, eventPos],
    ...(pastLimit ? { journal: { ...task.journal, countFrom: record.seq } } : {}),
  }
}

function runOf(state: State, run: RunToken | undefined): RunToken | undefined {
  return state === 'working' ? run : undefined
}

function remember(task: Task, answer: ResumeAnswer): readonly ResumeAnswer[] {
  return [...task.resumes, answer].slice(-RESUME_MEMORY)
}

function without(
  pending: readonly PendingReminder[],
  ids: readonly string[],
): readonly PendingReminder[] {
  return pending.filter((item) => !ids.includes(item.reminder.id))
}

function shown(
  pending: readonly PendingReminder[],
  reminders: readonly Reminder[],
  turn: number,
): readonly PendingReminder[] {
  if (reminders.length === 0) return pending
  const ids = new Set(reminders.map((reminder) => reminder.id))
  return pending.map((item) =>
    ids.has(item.reminder.id)
      ? { ...item, emittedAtTurn: item.emittedAtTurn ?? turn, shownInTurn: turn }
      : item,
  )
}

function withArtifact(task: Task, record: Of<'artifact'>): Task['artifacts'] {
  const { artifact, append } = record
  const index = task.artifacts.findIndex((known) => known.artifactId === artifact.artifactId)
  const known = task.artifacts[index]
  if (known === undefined) return [...task.artifacts, artifact]
  const next = append
    ? { ...known, ...artifact, parts: [...known.parts, ...artifact.parts] }
    : artifact
  return task.artifacts.with(index, next)
}
