/**
 * A copy of a task in memory that works: a stopped task is resumed, an open question is answered, a hold is lifted, and a
 * task whose process is gone is started. The commands are decided and folded as usual. Nothing is stored.
 */
import type { Command } from '../../../core/commands.ts'
import { decide } from '../../../core/decide.ts'
import { toError } from '../../../core/errors.ts'
import { evolve, fold } from '../../../core/evolve.ts'
import type { LogRecord, RunToken } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'

export interface WorkingCopy {
  readonly task: Task
  /** The whole log, with the records that set the task to work. */
  readonly log: readonly LogRecord[]
  /** The number of the last record that the task really has. */
  readonly recordedUpTo: number
  /** The key of the park or the question that the task waits at. */
  readonly stoppedAt: string | undefined
}

/** The run of every copy. */
export const copyRun: RunToken = { token: 'replay', worker: 'replay' }

const actor = { kind: 'operator', id: 'replay' } as const
const handle = 'suspend-replay'

/** Undefined if the task has ended, or ends when it goes on. @throws Error for a log that cannot be folded */
export function workingCopy(log: readonly LogRecord[]): WorkingCopy | undefined {
  let task = fold(log)
  if (task === undefined) return undefined
  const recordedUpTo = task.version
  const stoppedAt = task.suspension?.key ?? task.question?.key
  const all = [...log]
  while (!isTerminal(task.state)) {
    const command = nextCommand(task)
    if (command === undefined) return { task, log: all, recordedUpTo, stoppedAt }
    const decided = applied(task, command)
    // A task that no command moves cannot go on by itself.
    if (decided.records.length === 0) return undefined
    task = decided.task
    all.push(...decided.records)
  }
  return undefined
}

/** What the next process, a caller or an operator does to the task. Undefined: its code can run. */
function nextCommand(task: Task): Command | undefined {
  const [holdId] = task.holds
  if (holdId !== undefined) return { type: 'lift', holdId, actor, run: copyRun }
  if (task.suspension !== undefined) {
    const how = { cause: 'explicit_resume', input: null, continueTranscript: true } as const
    return { type: 'resume', actor, run: copyRun, ...how }
  }
  if (task.question !== undefined) return answerTo(task.question.consent?.consentId)
  if (task.run?.token === copyRun.token) return undefined
  const maxDeaths = Number.POSITIVE_INFINITY
  return { type: 'start', run: copyRun, from: task.run, maxDeaths, handle }
}

function answerTo(consentId: string | undefined): Command {
  const message = { messageId: 'replay', role: 'ROLE_USER', parts: [{ text: '' }] } as const
  const granted = consentId === undefined ? {} : ({ consentId, decision: 'granted' } as const)
  return { type: 'message', message, actor, run: copyRun, ...granted }
}

/** Decides the command at the instant of the last record, so that no deadline has passed since. @throws LullError */
export function applied(
  before: Task,
  command: Command,
): { readonly task: Task; readonly records: readonly LogRecord[] } {
  const at = before.updatedAt
  const decided = decide(before, command, at)
  if (decided.refusal !== undefined) throw toError(decided.refusal)
  const records: LogRecord[] = []
  let task = before
  for (const body of decided.records) {
    const record: LogRecord = { ...body, seq: task.version + 1, at }
    task = evolve(task, record)
    records.push(record)
  }
  return { task, records }
}
