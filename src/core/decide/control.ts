/** Decides holds: an operator stops tasks. Lifting a hold undoes exactly what the hold did. */
import type { Command } from '../commands.ts'
import type { RecordBody } from '../records.ts'
import { isTerminal } from '../states.ts'
import { pauseModes, type Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import { type Decided, ending, nothing } from './decided.ts'
import { wakeRecords } from './resuming.ts'
import { requestStop, stopNow } from './suspending.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

export function hold(task: Task, command: Of<'hold'>, at: number): Decided {
  const { hold, mode = 'interrupt_immediate', handle, atBoundary } = command
  if (isTerminal(task.state) || task.holds.includes(hold.holdId)) return nothing
  const records: RecordBody[] = [{ type: 'held', ...hold }]
  if (task.state !== 'working') return { records }
  if (task.pausing !== undefined) {
    const { mode: wanted = 'finish_step' } = task.pausing
    if (pauseModes.indexOf(mode) >= pauseModes.indexOf(wanted)) {
      records.push({ type: 'pause-upgraded', mode })
    }
    if (atBoundary) records.push(stopNow(task, at))
    return { records }
  }
  const suspension: Suspension = {
    handle,
    epoch: task.epoch + 1,
    initiator: 'client',
    actor: hold.actor,
    mode,
    reason: hold.reason,
    requestedAt: at,
    pausedFrom: task.state,
    eventsAfter: 0,
    byHold: true,
  }
  return { records: [...records, ...requestStop(task, suspension, atBoundary, at)] }
}

export function lift(task: Task, command: Of<'lift'>): Decided {
  const { holdId, actor, run } = command
  if (!task.holds.includes(holdId)) return nothing
  const lifted: RecordBody = { type: 'lifted', holdId, actor }
  if (task.holds.length > 1) return { records: [lifted] }
  return { records: [lifted, ...released(task, actor, run)] }
}

function released(
  task: Task,
  actor: Of<'lift'>['actor'],
  run: Of<'lift'>['run'],
): readonly RecordBody[] {
  const { pausing, suspension, deferred } = task
  if (pausing?.byHold) {
    return [{ type: 'pause-withdrawn', handle: pausing.handle, actor, cause: 'external_event' }]
  }
  if (suspension?.byHold) {
    const wake = {
      kind: 'wake',
      cause: 'external_event',
      input: null,
      continueTranscript: true,
    } as const
    return wakeRecords(suspension, wake, run, { actor })
  }
  if (deferred === undefined) return []
  switch (deferred.kind) {
    case 'wake':
      return suspension === undefined ? [] : wakeRecords(suspension, deferred, run, {})
    case 'answer': {
      // A paused question is answered when the task is resumed, not when the hold is lifted.
      if (suspension !== undefined) return []
      const { kind: _, ...answer } = deferred
      return [{ type: 'answered', ...answer, ...(run === undefined ? {} : { run }) }]
    }
    case 'failure': {
      const { kind: _, ...failed } = deferred
      return ending(task, { type: 'failed', ...failed })
    }
  }
}
