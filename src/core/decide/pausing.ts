/** Decides how a task is stopped: a pause, the commit of a pause, and a policy stop. */
import type { Command } from '../commands.ts'
import { refuse } from '../errors.ts'
import type { RecordBody } from '../records.ts'
import { isInterrupted, isTerminal } from '../states.ts'
import { pauseModes, type Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import { asRun, type Decided, nothing, write } from './decided.ts'
import { policyStop, requestStop, stopNow, withDeath } from './suspending.ts'

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
    const stop = task.suspension ?? task.pausing
    if (stop?.byHold || stop?.byBudget) return write(kept(command))
    return task.pausing === undefined ? nothing : upgrade(task, task.pausing, command, at)
  }
  const { handle, actor, mode, reason, conditions, fireAt, eventsAfter, parks } = command
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
    requestedAt: at,
    pausedFrom: task.state,
    eventsAfter,
  }
  // In these cases no operation is running, so the task can stop now.
  const stopsNow = command.atBoundary || task.state === 'submitted' || interrupted
  return { records: requestStop(task, suspension, stopsNow, at) }
}

/**
 * A caller pauses a task that a hold or a budget has already stopped. The task then stays paused
 * when the hold is lifted or the budget is refilled.
 */
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
  const { run = command.from?.token } = command
  if (task.run?.token !== run) {
    return command.run === undefined ? nothing : refuse('STALE_RUN', { taskId: task.id })
  }
  if (task.state !== 'working' && task.state !== 'submitted') return nothing
  const stopsNow = command.atBoundary || task.state === 'submitted'
  const records = policyStop(task, command, stopsNow, at)
  // A stop command without a run token is sent when the process of the run is gone.
  return {
    records: command.run === undefined ? records.map((one) => withDeath(task, one)) : records,
  }
}

/**
 * Only a task that runs and is not about to stop is paused: a stopped task has its budget checked
 * again when it is resumed.
 */
export function budgetPause(task: Task, command: Of<'budget-pause'>, at: number): Decided {
  if (task.state !== 'working' || task.pausing !== undefined) return nothing
  const { handle, budgetId, reason, conditions, fireAt, atBoundary } = command
  const suspension: Suspension = {
    handle,
    epoch: task.epoch + 1,
    initiator: 'client',
    actor: { kind: 'policy', id: budgetId },
    mode: 'finish_step',
    reason,
    ...(conditions === undefined ? {} : { conditions }),
    ...(fireAt === undefined ? {} : { fireAt }),
    requestedAt: at,
    pausedFrom: task.state,
    eventsAfter: 0,
    byBudget: true,
  }
  return { records: requestStop(task, suspension, atBoundary, at) }
}
