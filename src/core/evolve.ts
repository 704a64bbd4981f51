/**
 * Folds one record into a task. It is pure, and total for every log that `decide` can produce. A task is
 * `log.reduce(evolve, undefined)`, also after a restart and in an audit.
 *
 * Invariants (evolve.test.ts, decide.property.test.ts):
 *  E1  the state moves only along `transitions`;
 *  E2  `version` is the sequence number of the last record;
 *  E3  `suspension` is set exactly while the state is paused, `question` while it is interrupted or was when paused;
 *  E4  a terminal task is never changed again.
 */

import { withAbandoned } from './evolve/abandoned.ts'
import { copyTask, createTask, noUsage, type OwnTask } from './evolve/own-task.ts'
import { end, move, withStatus } from './evolve/status.ts'
import { requested, resume, stop, withdraw } from './evolve/stopping.ts'
import type { Message } from './messages/message.ts'
import type { LogRecord, RecordType } from './records.ts'
import { afterTurn, remembering, shown, without } from './reminders/reminders.ts'
import { isTerminal } from './states.ts'
import type { Suspension } from './suspension.ts'
import type { GivenAnswer, Task } from './task.ts'

type Of<T extends RecordType> = LogRecord & { readonly type: T }
type Change = Partial<Task>
/** Returns the members that change, or undefined if it changed the task in place. */
type Fold<T extends RecordType> = (task: OwnTask, record: Of<T>) => Change | undefined

export type { OwnTask } from './evolve/own-task.ts'

export function evolve(task: Task | undefined, record: LogRecord): OwnTask {
  if (record.type === 'submitted') {
    if (task !== undefined) throw new Error(`task ${task.id} was submitted already`)
    return createTask(record)
  }
  if (task === undefined) throw new Error(`a log begins with "submitted", not "${record.type}"`)
  return advance(copyTask(task), record)
}

/**
 * Changes the task in place. Only for a caller that created the object and has not passed it on.
 */
export function advance(task: OwnTask, record: LogRecord): OwnTask {
  if (isTerminal(task.state)) throw new Error(`task ${task.id} is ${task.state}: nothing follows`)
  const change = (folds[record.type as keyof typeof folds] as Fold<RecordType>)(task, record)
  task.version = record.seq
  task.updatedAt = record.at
  return change === undefined ? task : Object.assign(task, change)
}

export function fold(log: readonly LogRecord[], from?: Task): Task | undefined {
  let task = from && copyTask(from)
  for (const record of log) {
    if (task === undefined || record.type === 'submitted') task = evolve(task, record)
    else advance(task, record)
  }
  return task
}

const progressed: Change = { deaths: 0 }

// Records that every task has (started, artifact, the ends) are applied in place, which saves
// copying the task.
function answerOf(
  { question }: Task,
  { actor, decision, at }: Pick<GivenAnswer, 'actor' | 'decision' | 'at'>,
): GivenAnswer {
  const consentId = question?.consent?.consentId
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(decision === undefined ? {} : { decision }),
    ...(consentId === undefined ? {} : { consentId }),
    at,
  }
}

const folds: { readonly [T in Exclude<RecordType, 'submitted'>]: Fold<T> } = {
  started(task, { run, deaths, at }) {
    if (task.state === 'submitted') {
      task.state = move(task, 'working')
      task.statusAt = at
    }
    task.run = run
    task.deaths = deaths
    return undefined
  },
  released: () => ({ run: undefined, deaths: 0 }),
  message: (task, { message }) => ({
    history: [...task.history, message],
    queued: [...task.queued, message],
  }),

  step: (task, { topLevel, failure }) => {
    if (!topLevel) return progressed
    const turn = task.turn + 1
    const outcome = failure === undefined ? 'completed' : 'failed'
    return { deaths: 0, turn, reminders: afterTurn(task.reminders, turn, outcome).left }
  },
  attempt: () => progressed,
  abandoned: (task, record) => ({
    ...progressed,
    abandoned: withAbandoned(task.abandoned, record),
  }),
  'not-awaited': () => progressed,
  skipped: () => progressed,
  value: () => progressed,
  'child-ended': () => progressed,
  'child-called': () => progressed,
  said: (task, { message, progress, at }) => ({
    ...progressed,
    statusAt: at,
    ...(message === undefined ? {} : { statusMessage: message, history: withStatus(task) }),
    ...(progress === undefined ? {} : { progress }),
  }),
  artifact(task, record) {
    task.deaths = 0
    task.artifacts = withArtifact(task, record)
    return undefined
  },
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
  'reminders-shown': (task, { turn, reminders, toldWake }) => ({
    ...progressed,
    reminders: shown(task.reminders, reminders, turn),
    ...(toldWake !== undefined && toldWake === task.wake?.handle ? { wakeUnseen: undefined } : {}),
  }),
  'turn-ended': (task, { turn, outcome }) => ({
    ...progressed,
    reminders: afterTurn(task.reminders, turn, outcome).left,
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
    state: move(task, question.state),
    statusAt: at,
    statusMessage: question.message,
    history: withStatus(task),
    question: { ...question, key },
    run: undefined,
  }),
  'asked-again': (task, { answer, at }) => ({
    statusAt: at,
    // The question stays the status message. The answer that was not understood is added to the
    // history.
    history: [...task.history, answer],
  }),
  answered: (task, { message, run, trace, ...given }) => ({
    lastAnswer: answerOf(task, given),
    state: move(task, 'working'),
    statusAt: given.at,
    statusMessage: undefined,
    history: [...withStatus(task), message],
    question: undefined,
    deferred: undefined,
    run,
    trace,
  }),

  'pause-requested': (task, { suspension, quiesces, at }) => ({
    ...(task.state === 'submitted' ? { state: move(task, 'working'), statusAt: at } : {}),
    ...(quiesces ? { statusAt: at } : {}),
    pausing: suspension,
  }),
  'pause-upgraded': (task, { mode }) => ({
    pausing: task.pausing && { ...task.pausing, mode },
  }),
  'pause-kept': (task, { actor, reason, origin }) => {
    const keep = (stop: Suspension | undefined): Suspension | undefined => {
      if (stop === undefined) return undefined
      // The stop now belongs to a caller, so the conditions of the budget are dropped. A stop by a
      // hold has none.
      const { byHold: _, byBudget: __, conditions: ___, fireAt: ____, ...rest } = stop
      return {
        ...rest,
        actor,
        ...(reason === undefined ? {} : { reason }),
        ...(origin === undefined ? {} : { origin }),
      }
    }
    return { pausing: keep(task.pausing), suspension: keep(task.suspension) }
  },
  'pause-withdrawn': withdraw,
  paused: (task, { handle, deadlineAt, fireAt, links, at }) => {
    const asked = requested(task, handle)
    const suspension = { ...asked, pausedAt: at, ...(links === undefined ? {} : { links }) }
    const state = suspension.initiator === 'agent' ? 'paused-by-agent' : 'paused-by-client'
    return stop(task, state, suspension, { deadlineAt, fireAt }, at)
  },
  parked: (task, { suspension, at }) => ({
    ...progressed,
    ...stop(task, 'paused-by-agent', suspension, suspension, at),
  }),
  resumed: resume,
  deferred: (task, { deferred, at }) =>
    deferred.kind === 'answer'
      ? { deferred, lastAnswer: answerOf(task, { ...deferred, at }) }
      : { deferred },
  held: (task, { holdId }) => ({ holds: [...task.holds, holdId] }),
  lifted: (task, { holdId }) => ({ holds: task.holds.filter((id) => id !== holdId) }),

  'reminder-injected': (task, { reminder, dedupedCount, provider }) => ({
    reminders: [...task.reminders, { reminder }],
    ...(provider === undefined
      ? { reminded: remembering(task.reminded, reminder, dedupedCount) }
      : {}),
  }),
  'reminder-deduped': (task, { ids }) => ({ reminders: without(task.reminders, ids) }),
  'reminder-expired': (task, { ids }) => ({ reminders: without(task.reminders, ids) }),

  completed: (task, { message, at }) => end(task, 'completed', message, at),
  rejected: (task, { message, at }) => end(task, 'rejected', message, at),
  failed(task, { message, failure, at }) {
    task.failure = failure
    return end(task, 'failed', message, at)
  },
  canceled: (task, { at }) => end(task, 'canceled', undefined, at),
  forked: fork,
  // Positions of events, holds and runs in an imported log refer to the other store, so they are
  // replaced or dropped.
  imported: (task, { eventsAfter }) => {
    const here = (stop: Suspension | undefined): Suspension | undefined =>
      stop && { ...stop, eventsAfter }
    return {
      run: undefined,
      deaths: 0,
      holds: [],
      eventsAfter,
      consumed: [],
      pausing: here(task.pausing),
      suspension: here(task.suspension),
    }
  },
  receipt: (_task, { receipt: { number, version }, hash }) => ({
    receipts: { count: number, head: hash, ...(version === undefined ? {} : { version }) },
  }),
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

/** Whether this version can fold records of that type. A newer version may have written others. */
export function isRecordType(type: string): type is RecordType {
  return type === 'submitted' || Object.hasOwn(folds, type)
}

/** A fork: the past of another task becomes the past of a new one. */
const none: readonly never[] = []

/**
 * The new task keeps the history, the journal, the reminders and the chain of receipts. It does not
 * keep what concerns the other task alone: parent and children, the run and its abandoned steps,
 * pause, holds, resumes and usage.
 */
export function fork(
  task: Task,
  { taskId, contextId, from, step, at }: LogRecord & { readonly type: 'forked' },
): Partial<Task> {
  const own = (message: Message): Message => ({ ...message, taskId, contextId })
  return {
    id: taskId,
    contextId,
    forkedFrom: { taskId: from, step },
    parentId: undefined,
    depth: undefined,
    origin: undefined,
    createdAt: at,
    statusAt: at,
    statusMessage: task.statusMessage && own(task.statusMessage),
    history: task.history.map(own),
    queued: task.queued.map(own),
    pausing: undefined,
    resumes: none,
    holds: none,
    deferred: undefined,
    run: undefined,
    deaths: 0,
    abandoned: none,
    children: none,
    usage: noUsage,
  }
}
