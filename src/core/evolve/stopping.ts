/** Folds the beginning and the end of a suspension. */
import type { LogRecord, RunToken } from '../records.ts'
import type { State } from '../states.ts'
import { type Suspension, wakeOf } from '../suspension.ts'
import { RESUME_MEMORY, type ResumeAnswer, type Task } from '../task.ts'
import { mayStillAct } from './abandoned.ts'
import { move } from './status.ts'

export function requested(task: Task, handle: string): Suspension {
  if (task.pausing?.handle !== handle)
    throw new Error(`task ${task.id}: ${handle} was not requested`)
  return task.pausing
}

export function stop(
  task: Task,
  state: 'paused-by-client' | 'paused-by-agent',
  suspension: Suspension,
  times: { readonly deadlineAt?: number | undefined; readonly fireAt?: number | undefined },
  at: number,
): Partial<Task> {
  const { deadlineAt, fireAt } = times
  const acting = mayStillAct(task)
  return {
    state: move(task, state),
    statusAt: at,
    pausing: undefined,
    epoch: suspension.epoch,
    run: undefined,
    suspension: {
      ...suspension,
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
      ...(fireAt === undefined ? {} : { fireAt }),
      ...(acting === undefined ? {} : { mayStillAct: acting }),
    },
  }
}

export function resume(
  task: Task,
  record: LogRecord & { readonly type: 'resumed' },
): Partial<Task> {
  const { suspension } = task
  if (suspension === undefined) throw new Error(`task ${task.id}: resumed without a suspension`)
  const { at, cause, handle, input, continueTranscript, eventPos, run } = record
  // A paused question is open again after the resume. Every other task is `working`.
  const state: State = task.question === undefined ? 'working' : task.question.state
  const pastLimit = suspension.reason === 'journal-limit'
  return {
    deaths: 0,
    state: move(task, state),
    statusAt: at,
    suspension: undefined,
    deferred: undefined,
    wake: wakeOf(suspension, record),
    wakeUnseen: true,
    run: runOf(state, run),
    trace: record.trace,
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
    ...(eventPos === undefined ? {} : consume(task, eventPos, record.eventsRemovedUpTo)),
    ...(pastLimit ? { journal: { ...task.journal, countFrom: record.seq } } : {}),
  }
}

/** The most events for which a task remembers that they woke it. */
export const MOST_CONSUMED = 1_000

/**
 * Remembers that the event at `pos` woke the task, so that it wakes the task only once. A position
 * is forgotten only when `eventsAfter` moves past it: when the event was removed from the store, or
 * when the task has more than 1,000 positions. In the second case, older events can no longer wake
 * the task.
 */
function consume(task: Task, pos: number, removedUpTo = 0): Pick<Task, 'eventsAfter' | 'consumed'> {
  const all = [...task.consumed, pos]
  const tooMany = all.length > MOST_CONSUMED
  const forgotten = tooMany ? all.toSorted((a, b) => a - b).at(-MOST_CONSUMED - 1) : 0
  const eventsAfter = Math.max(task.eventsAfter, removedUpTo, forgotten ?? 0)
  return { eventsAfter, consumed: all.filter((known) => known > eventsAfter) }
}

/**
 * A task was resumed before its pause had committed. Input that came with the resume is kept: the
 * task's code reads it as `task.wake`.
 */
export function withdraw(
  task: Task,
  record: LogRecord & { readonly type: 'pause-withdrawn' },
): Partial<Task> {
  const { at, handle, cause, input, idempotencyKey } = record
  const { pausing } = task
  const wake =
    pausing === undefined || input === undefined
      ? task.wake
      : wakeOf(pausing, { ...record, input, continueTranscript: true })
  return {
    pausing: undefined,
    statusAt: at,
    wake,
    resumes: remember(task, {
      handle,
      cause,
      resumedAt: at,
      hadResumeInput: input !== undefined,
      continueTranscript: true,
      previousState: 'working',
      state: 'working',
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
  }
}

function runOf(state: State, run: RunToken | undefined): RunToken | undefined {
  return state === 'working' ? run : undefined
}

function remember(task: Task, answer: ResumeAnswer): readonly ResumeAnswer[] {
  return [...task.resumes, answer].slice(-RESUME_MEMORY)
}
