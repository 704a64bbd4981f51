/**
 * Decides what a command does to a task: records to append, or a refusal. It is pure: no clock, no ids, no I/O. The
 * engine appends the records with a compare-and-set on the version, and decides again if another write came first.
 *
 * An empty list of records means that there is nothing to do: the command was carried out before or does not apply any
 * more.
 *
 *   command ──▶ decide ──▶ records ──▶ store ──▶ evolve ──▶ task
 */
import type { Command, CommandType } from './commands.ts'
import * as control from './decide/control.ts'
import type { Decided } from './decide/decided.ts'
import * as lifecycle from './decide/lifecycle.ts'
import * as pausing from './decide/pausing.ts'
import * as reminding from './decide/reminding.ts'
import * as resuming from './decide/resuming.ts'
import * as running from './decide/running.ts'
import * as waking from './decide/waking.ts'
import { refuse } from './errors.ts'
import type { Task } from './task.ts'

export type { Decided } from './decide/decided.ts'

type Decider<T extends CommandType> = (
  task: Task,
  command: Command & { readonly type: T },
  at: number,
) => Decided

const deciders: { readonly [T in Exclude<CommandType, 'submit' | 'fork' | 'import'>]: Decider<T> } =
  {
    start: lifecycle.start,
    message: lifecycle.message,
    cancel: lifecycle.cancel,
    complete: lifecycle.complete,
    fail: lifecycle.fail,
    reject: lifecycle.reject,
    wait: lifecycle.wait,
    release: lifecycle.release,

    pause: pausing.pause,
    'commit-pause': pausing.commitPause,
    'policy-pause': pausing.policyPause,
    'budget-pause': pausing.budgetPause,
    resume: resuming.resume,
    event: waking.event,
    'child-end': waking.childEnd,
    due: waking.due,

    hold: control.hold,
    lift: control.lift,

    record: running.record,
    'start-turn': running.startTurn,
    'show-reminders': running.showReminders,
    park: running.park,
    ask: running.ask,
    'continue-as': running.continueAs,

    remind: reminding.remind,
    'clear-reminders': reminding.clear,
  }

export function decide(task: Task | undefined, command: Command, at: number): Decided {
  if (command.type === 'submit') return lifecycle.submit(task, command)
  if (command.type === 'fork') return lifecycle.fork(task, command, at)
  if (command.type === 'import') return lifecycle.importLog(task, command, at)
  if (task === undefined) return refuse('TASK_NOT_FOUND', { taskId: '' })
  return (deciders[command.type] as Decider<CommandType>)(task, command, at)
}
