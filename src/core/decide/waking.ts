/** Decides what wakes a stopped task: events, schedules, instants and deadlines. */

import type { Command } from '../commands.ts'
import type { Message } from '../messages/message.ts'
import type { DeferredAction, RunToken } from '../records.ts'
import { isInterrupted, isPaused } from '../states.ts'
import type { Suspension, TimeoutEvent } from '../suspension.ts'
import type { Task } from '../task.ts'
import { toIso } from '../values/instant.ts'
import type { Json } from '../values/json.ts'
import { type CloudEvent, reaches } from '../waiting/cloud-event.ts'
import { matches, type OnTimeout } from '../waiting/conditions.ts'
import { type Decided, ending, nothing, write } from './decided.ts'
import { wakeRecords } from './resuming.ts'
import { expired } from './suspending.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

/** Whether the event at position `pos` fulfils the conditions of the task's suspension. */
export function wakesOn(
  task: Pick<Task, 'suspension' | 'eventsAfter' | 'consumed' | 'principal'>,
  event: CloudEvent,
  pos: number,
): boolean {
  const { suspension, eventsAfter, consumed } = task
  if (suspension === undefined || pos <= Math.max(eventsAfter, suspension.eventsAfter)) return false
  if (consumed.includes(pos) || !reaches(event, task.principal)) return false
  return matches(suspension.conditions, event)
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

/** Whether the end of that child wakes the task. */
export function waitsForChild({ suspension }: Pick<Task, 'suspension'>, childId: string): boolean {
  return suspension?.children?.includes(childId) ?? false
}

export function childEnd(task: Task, { child, run }: Of<'child-end'>): Decided {
  const { suspension } = task
  if (suspension === undefined || !waitsForChild(task, child.taskId)) return nothing
  return wakeOrDefer(task, suspension, run, {
    kind: 'wake',
    cause: 'condition_fired',
    input: null,
    child,
    continueTranscript: true,
  })
}

/**
 * While a hold covers the task, the first wake is stored instead. It takes effect when the hold is
 * lifted.
 */
function wakeOrDefer(
  task: Task,
  suspension: Suspension,
  run: RunToken | undefined,
  wake: DeferredAction & { readonly kind: 'wake' },
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
  const wake = (input: Json, continueTranscript: boolean): Decided =>
    wakeOrDefer(task, suspension, command.run, {
      kind: 'wake',
      cause: 'timeout',
      input,
      event,
      continueTranscript,
    })
  const actions: { readonly [A in OnTimeout]: () => Decided } = {
    resume_with_summary: () => wake(null, false),
    resume_with_input: () => wake(timeout?.input ?? { ...event }, true),
    fail: () => {
      const why = suspension.reason === undefined ? '' : ` (${suspension.reason})`
      return failOrDefer(task, command.messageId, `The deadline ${event.deadlineAt} passed${why}`)
    },
  }
  return actions[timeout?.onTimeout ?? 'resume_with_summary']()
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
