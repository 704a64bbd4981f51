/**
 * Decides the commands of a run. A command of a run that no longer has the task is refused as
 * stale.
 */
import type { Command } from '../commands.ts'
import type { JournalRecord, RecordBody } from '../records.ts'
import { afterTurn, isVisible, type PendingReminder } from '../reminders/reminders.ts'
import type { Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import { asRun, type Decided, nothing, write } from './decided.ts'
import { providing } from './reminding.ts'
import { deadline } from './suspending.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

export function record(task: Task, command: Of<'record'>): Decided {
  return asRun(task, command.run, () => {
    let pending = task.reminders
    let { turn } = task
    const records = command.records.flatMap((record): readonly RecordBody[] => {
      if (record.type === 'step' && record.topLevel) turn++
      const { left, expired, reason } = expiring(pending, record, turn)
      pending = left
      return expired.length === 0
        ? [record]
        : [record, { type: 'reminder-expired', ids: expired, reason }]
    })
    if (command.provided === undefined) return { records }
    return { records: [...records, ...providing(pending, command).records] }
  })
}

/**
 * Records for reminders that expire at the end of a turn (TTL) or at a compaction. A step outside a
 * turn counts as a turn.
 */
function expiring(
  pending: readonly PendingReminder[],
  record: JournalRecord,
  turn: number,
): ReturnType<typeof afterTurn> & { readonly reason: 'ttl' | 'compaction' } {
  if (record.type === 'turn-ended') {
    return { ...afterTurn(pending, record.turn, record.outcome), reason: 'ttl' }
  }
  if (record.type === 'step' && record.topLevel) {
    const outcome = record.failure === undefined ? 'completed' : 'failed'
    return { ...afterTurn(pending, turn, outcome), reason: 'ttl' }
  }
  const kept = (item: PendingReminder): boolean =>
    record.type !== 'compacted' || item.reminder.preserveOnCompact
  return {
    left: pending.filter(kept),
    expired: pending.filter((item) => !kept(item)).map((item) => item.reminder.id),
    reason: 'compaction',
  }
}

/**
 * Records what a new turn sees: messages that no turn has seen yet, pending reminders, and the
 * reminders that providers add. While a pause is under way no turn starts and only the usage is
 * written. The run repeats the command after the resume.
 */
export function startTurn(task: Task, command: Of<'start-turn'>): Decided {
  return asRun(task, command.run, () => {
    const used = command.usage === undefined ? [] : [command.usage]
    if (task.pausing !== undefined) return write(...used)
    const turn = task.turn + 1
    const { records, pending } = providing(task.reminders, command)
    const visible = pending.filter((item) => isVisible(item, 'start'))
    const { key, digest } = command
    return write(...used, ...records, {
      type: 'turn-started',
      key,
      turn,
      messages: task.queued,
      ...seen(visible, turn),
      ...(digest === undefined ? {} : { digest }),
    })
  })
}

/**
 * The code has read its reminders during a turn. Records those that this turn saw for the first
 * time.
 */
export function showReminders(task: Task, command: Of<'show-reminders'>): Decided {
  return asRun(task, command.run, () => {
    const { key, turn, ids, toldWake } = command
    const { records, pending } = providing(task.reminders, command)
    const visible = pending.filter(
      (item) => ids.includes(item.reminder.id) && item.shownInTurn !== turn,
    )
    if (visible.length === 0 && toldWake === undefined) return nothing
    return write(...records, {
      type: 'reminders-shown',
      key,
      turn,
      ...seen(visible, turn),
      ...(toldWake === undefined ? {} : { toldWake }),
    })
  })
}

function seen(
  visible: readonly PendingReminder[],
  turn: number,
): Pick<RecordBody & { type: 'reminders-shown' }, 'reminders' | 'emitted'> {
  const isNew = (item: PendingReminder): boolean => item.emittedAtTurn === undefined
  return {
    reminders: visible.map((item) => ({
      ...item.reminder,
      firedAtTurn: item.emittedAtTurn ?? turn,
    })),
    emitted: visible.filter(isNew).map((item) => item.reminder.id),
  }
}

/** While a pause is under way nothing is written. The run repeats the command after the resume. */
export function park(task: Task, command: Of<'park'>, at: number): Decided {
  return asRun(task, command.run, () => {
    if (task.pausing !== undefined) return nothing
    const { handle, reason, summary, conditions, children, inputSchema, fireAt } = command
    const { key, fingerprint } = command
    const deadlineAt = deadline(conditions, at)
    const suspension: Suspension = {
      handle,
      epoch: task.epoch + 1,
      initiator: 'agent',
      actor: { kind: 'agent', id: task.agent },
      reason,
      ...(summary === undefined ? {} : { summary }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(children === undefined ? {} : { children }),
      ...(inputSchema === undefined ? {} : { inputSchema }),
      requestedAt: at,
      pausedAt: at,
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
      ...(fireAt === undefined ? {} : { fireAt }),
      pausedFrom: task.state,
      eventsAfter: conditions?.since === 'now' ? command.eventsNow : task.eventsAfter,
      key,
    }
    return write({ type: 'parked', fingerprint, suspension })
  })
}

export function ask(task: Task, command: Of<'ask'>): Decided {
  return asRun(task, command.run, () => {
    if (task.pausing !== undefined) return nothing
    const { key, fingerprint, question } = command
    return write({ type: 'asked', key, fingerprint, question })
  })
}

export function continueAs(task: Task, command: Of<'continue-as'>): Decided {
  const { key, state, transcript } = command
  return asRun(task, command.run, () => write({ type: 'continued', key, state, transcript }))
}
