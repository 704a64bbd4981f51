/** Pause and everything that ends one: resume, events, deadlines. Exactly one of them wins a suspension. */
import type { CloudEvent } from '../cloud-event.ts'
import type { Command } from '../commands.ts'
import { matches } from '../conditions.ts'
import { refuse } from '../errors.ts'
import { toIso } from '../instant.ts'
import type { Message } from '../message.ts'
import type { Deferred, RecordBody, RunToken } from '../records.ts'
import { isInterrupted, isPaused, isTerminal } from '../states.ts'
import { pauseModes, type Suspension, type TimeoutEvent } from '../suspension.ts'
import type { Task } from '../task.ts'
import { asRun, type Decided, ending, nothing, write } from './decided.ts'
import { expired, policyStop, requestStop, stopNow, withDeath } from './suspending.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

export function pause(task: Task, command: Of<'pause'>, at: number): Decided {
  const refused = (why: string): Decided =>
    refuse('TASK_NOT_PAUSABLE', { taskId: task.id, state: task.state, why })
  if (isTerminal(task.state)) return refused(`it is ${task.state}`)
  if (command.parks !== undefined && (task.state !== 'working' || task.pausing !== undefined)) {
    return refused(task.pausing === undefined ? `it is ${task.state}` : 'a pause is under way')
  }
  if (task.state === 'paused-by-agent' || task.pausing?.initiator === 'agent') {
    return refused('it is parked; hold it instead')
  }
  const interrupted = isInterrupted(task.state)
  if (interrupted && !(task.state === 'input-required' && command.evenInputRequired)) {
    return refused(`it is ${task.state} and waits for an answer`)
  }
  if (interrupted && task.deferred !== undefined) {
    return refused('its question is settled and acts when the hold is lifted')
  }
  if (task.state === 'paused-by-client' || task.pausing !== undefined) {
    if (command.refuseRepeat) return refused('it is paused already')
    if ((task.suspension ?? task.pausing)?.byHold) return write(kept(command))
    return task.pausing === undefined ? nothing : upgrade(task, task.pausing, command, at)
  }
  const { handle, actor, mode, reason, conditions, fireAt, eventsAfter, links, parks } = command
  const suspension: Suspension = {
    handle,
    epoch: task.epoch + 1,
    initiator: parks === undefined ? 'client' : 'agent',
    actor,
    ...(command.origin === undefined ? {} : { origin: command.origin }),
    mode,
    ...(reason === undefined ? {} : { reason }),
    ...(parks?.summary === undefined ? {} : { summary: parks.summary }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(fireAt === undefined ? {} : { fireAt }),
    ...(links === undefined ? {} : { links }),
    requestedAt: at,
    pausedFrom: task.state,
    eventsAfter,
  }
  // Nothing runs in these states, so nothing has to be waited for.
  const still = command.atBoundary || task.state === 'submitted' || interrupted
  return { records: requestStop(task, suspension, still, at) }
}

/** What a hold stopped and somebody also wants paused stays paused when the hold is lifted. */
function kept({ actor, reason, origin }: Of<'pause'>): RecordBody {
  return {
    type: 'pause-kept',
    actor,
    ...(reason === undefined ? {} : { reason }),
    ...(origin === undefined ? {} : { origin }),
  }
}

function upgrade(task: Task, pausing: Suspension, command: Of<'pause'>, at: number): Decided {
  const stronger =
    pauseModes.indexOf(command.mode) > pauseModes.indexOf(pausing.mode ?? 'finish_step')
  if (!stronger) return nothing
  const upgraded: RecordBody = { type: 'pause-upgraded', mode: command.mode }
  return command.atBoundary ? write(upgraded, stopNow(task, at)) : write(upgraded)
}

export function commitPause(task: Task, command: Of<'commit-pause'>, at: number): Decided {
  return asRun(task, command.run, () => {
    const { pausing } = task
    if (pausing === undefined || (command.handle ?? pausing.handle) !== pausing.handle)
      return nothing
    return write(stopNow(task, at, pausing, command.fireAt))
  })
}

export function policyPause(task: Task, command: Of<'policy-pause'>, at: number): Decided {
  if (command.run !== undefined && task.run?.token !== command.run) {
    return refuse('STALE_RUN', { taskId: task.id })
  }
  if (task.state !== 'working' && task.state !== 'submitted') return nothing
  const still = command.atBoundary || task.state === 'submitted'
  const records = policyStop(task, command, still, at)
  // Not the run itself stops: its process is gone.
  return {
    records: command.run === undefined ? records.map((one) => withDeath(task, one)) : records,
  }
}

export function resume(task: Task, command: Of<'resume'>): Decided {
  const { actor, cause, handle, idempotencyKey } = command
  if (
    idempotencyKey !== undefined &&
    task.resumes.some((r) => r.idempotencyKey === idempotencyKey)
  ) {
    return nothing
  }
  const stopped = task.suspension ?? task.pausing
  if (stopped === undefined) return notPaused(task, handle)
  if (handle === undefined && command.requireHandle) {
    return refuse('INVALID_INPUT', { path: 'handle', problem: 'is required by this server' })
  }
  if (handle !== undefined && handle !== stopped.handle) {
    return refuse('RESUME_HANDLE_MISMATCH', { taskId: task.id, handle })
  }
  if (task.holds.length > 0) return refuse('TASK_HELD', { taskId: task.id, holdIds: task.holds })
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  if (task.pausing?.mismatch !== undefined || task.pausing?.newOperations !== undefined) {
    // Accepting changed code rebuilds the run, and that needs it to have stopped.
    return refuse('TASK_NOT_PAUSED', { taskId: task.id, state: task.state })
  }
  const { input, continueTranscript, run } = command
  if (task.suspension === undefined) {
    const given = input === null ? {} : { input }
    return write({
      type: 'pause-withdrawn',
      handle: stopped.handle,
      actor,
      cause,
      ...given,
      ...key,
    })
  }
  const wake = { kind: 'wake', cause, input, continueTranscript } as const
  const who = { actor, ...key }
  if (task.deferred?.kind !== 'answer') {
    return { records: wakeRecords(task.suspension, wake, run, who) }
  }
  // The question comes back, and somebody has answered it meanwhile.
  const { kind: _, ...answer } = task.deferred
  const answered: RecordBody = {
    type: 'answered',
    ...answer,
    ...(run === undefined ? {} : { run }),
  }
  return { records: [...wakeRecords(task.suspension, wake, undefined, who), answered] }
}

/** Whoever names a handle is told who won that suspension, and nothing about any other. */
function notPaused(task: Task, handle: string | undefined): Decided {
  const winner = task.resumes.findLast((r) => handle === undefined || r.handle === handle)
  const { id: taskId, state } = task
  if (winner === undefined) return refuse('TASK_NOT_PAUSED', { taskId, state })
  const { cause, resumedAt } = winner
  return refuse('TASK_NOT_PAUSED', { taskId, state, cause, resumedAt })
}

/** The records of a wake; accepting changed code goes with it. */
export function wakeRecords(
  suspension: Suspension,
  wake: Deferred & { readonly kind: 'wake' },
  run: RunToken | undefined,
  who: Pick<RecordBody & { type: 'resumed' }, 'actor' | 'idempotencyKey'>,
): readonly RecordBody[] {
  const { kind: _, ...facts } = wake
  const resumed: RecordBody = {
    type: 'resumed',
    handle: suspension.handle,
    ...facts,
    ...who,
    ...(run === undefined ? {} : { run }),
  }
  const { mismatch, newOperations = [] } = suspension
  return [
    resumed,
    ...(mismatch === undefined ? [] : [{ type: 'voided', key: mismatch } as const]),
    ...newOperations.map((one) => ({ type: 'voided', ...one }) as const),
  ]
}

/** Whether the event, at that position, ends what the task waits for. */
export function wakesOn(
  { suspension, eventsAfter, consumed }: Pick<Task, 'suspension' | 'eventsAfter' | 'consumed'>,
  event: CloudEvent,
  pos: number,
): boolean {
  if (suspension === undefined || pos <= Math.max(eventsAfter, suspension.eventsAfter)) return false
  return !consumed.includes(pos) && matches(suspension.conditions, event)
}

export function event(task: Task, command: Of<'event'>): Decided {
  const { event, pos, removedUpTo = 0, run } = command
  const { suspension, consumed } = task
  if (suspension === undefined || !wakesOn(task, event, pos)) return nothing
  const forgets = consumed.some((known) => known <= removedUpTo)
  return wakeOrDefer(task, suspension, run, {
    kind: 'wake',
    cause: 'condition_fired',
    input: null,
    event,
    eventPos: pos,
    ...(forgets ? { eventsRemovedUpTo: removedUpTo } : {}),
    continueTranscript: true,
  })
}

/** Under a hold the first thing that fires is kept and acts when the hold is lifted. */
function wakeOrDefer(
  task: Task,
  suspension: Suspension,
  run: RunToken | undefined,
  wake: Deferred & { readonly kind: 'wake' },
): Decided {
  if (task.holds.length === 0) return { records: wakeRecords(suspension, wake, run, {}) }
  return task.deferred === undefined ? write({ type: 'deferred', deferred: wake }) : nothing
}

export function due(task: Task, command: Of<'due'>, at: number): Decided {
  const { question, suspension } = task
  if (isInterrupted(task.state) && question !== undefined) {
    return expired(question, at) ? questionExpired(task, command.messageId) : nothing
  }
  if (!isPaused(task.state) || suspension === undefined) return nothing
  const { fireAt = Infinity, deadlineAt = Infinity, handle } = suspension
  if (Math.min(fireAt, deadlineAt) > at) return nothing
  if (fireAt <= deadlineAt) {
    const type = 'schedule' in (suspension.conditions?.trigger ?? {}) ? 'lull.schedule' : 'lull.at'
    return wakeOrDefer(task, suspension, command.run, {
      kind: 'wake',
      cause: 'condition_fired',
      input: null,
      event: { id: handle, source: 'lull', type, time: toIso(fireAt) },
      continueTranscript: true,
    })
  }
  return timedOut(task, suspension, command, deadlineAt)
}

export function questionExpired(task: Task, messageId: string): Decided {
  return failOrDefer(task, messageId, 'The question expired before it was answered')
}

function timedOut(
  task: Task,
  suspension: Suspension,
  command: Of<'due'>,
  deadlineAt: number,
): Decided {
  const event: TimeoutEvent = {
    type: 'lull.timeout',
    handle: suspension.handle,
    deadlineAt: toIso(deadlineAt),
  }
  const timeout = suspension.conditions?.timeout
  const action = timeout?.onTimeout ?? 'resume_with_summary'
  if (action === 'fail') {
    const why = suspension.reason === undefined ? '' : ` (${suspension.reason})`
    return failOrDefer(task, command.messageId, `The deadline ${event.deadlineAt} passed${why}`)
  }
  const withInput = action === 'resume_with_input'
  return wakeOrDefer(task, suspension, command.run, {
    kind: 'wake',
    cause: 'timeout',
    input: withInput ? (timeout?.input ?? { ...event }) : null,
    event,
    continueTranscript: withInput,
  })
}

function failOrDefer(task: Task, messageId: string, why: string): Decided {
  const message: Message = {
    messageId,
    role: 'ROLE_AGENT',
    parts: [{ text: why }],
    taskId: task.id,
    contextId: task.contextId,
  }
  const failure = { name: 'Timeout', message: why }
  if (task.holds.length === 0) {
    return { records: ending(task, { type: 'failed', message, failure }) }
  }
  return task.deferred === undefined
    ? write({ type: 'deferred', deferred: { kind: 'failure', message, failure } })
    : nothing
}
