/** One task: its log, what is stored of it, and what its customer was told. */
import { fold } from '../../src/core/evolve.ts'
import type { LogRecord } from '../../src/core/records.ts'
import type { State } from '../../src/core/states.ts'
import type { StoredTask } from '../../src/ports/store/tasks.ts'
import type { Account } from './customer.ts'
import { grouped } from './grouped.ts'
import { SKEW_MS } from './runs.ts'

/** Records have the time of the database, whatever the clocks of the processes show. */
export function faultsOfTimes(
  log: readonly LogRecord[],
  from: number,
  to: number,
): readonly string[] {
  const strange = log.filter(({ at }) => at < from - SKEW_MS || at > to + SKEW_MS)
  return strange.map(({ seq, at }) => `has record ${seq} at ${new Date(at).toISOString()}`)
}

/** A timeout ends a stop when its deadline has passed by the clock of the database, and not before. */
export function faultsOfDeadlines(log: readonly LogRecord[]): readonly string[] {
  let deadline = 0
  return log.flatMap((one) => {
    if (one.type === 'parked') deadline = one.suspension.deadlineAt ?? 0
    const isEarly = one.type === 'resumed' && one.cause === 'timeout' && one.at < deadline
    return isEarly ? [`was woken ${deadline - one.at} ms before its deadline`] : []
  })
}

/** @param state the state that the log leads to */
export function faultsOfLog(
  log: readonly LogRecord[],
  state: State | undefined = fold(log)?.state,
): readonly string[] {
  const faults: string[] = []
  if (state !== 'completed') faults.push(`is ${state} after ${JSON.stringify(log.at(-1))}`)
  if (log.some(({ seq }, index) => seq !== index + 1)) faults.push('has a gap or a doubled record')
  const keys = log.flatMap((one) => ('key' in one && one.type !== 'attempt' ? [`${one.key}`] : []))
  if (new Set(keys).size < keys.length) faults.push('did one thing twice')
  const handles = log.flatMap((one) =>
    one.type === 'resumed' || one.type === 'pause-withdrawn' ? [one.handle] : [],
  )
  if (new Set(handles).size < handles.length) faults.push('was resumed twice from one stop')
  const positions = log.flatMap((one) => ('eventPos' in one ? [one.eventPos] : []))
  if (new Set(positions).size < positions.length) faults.push('was woken twice by one event')
  return faults
}

export function faultsOfAccount(account: Account, log: readonly LogRecord[]): readonly string[] {
  const { taskIds, resumes, messages, reminders } = account
  const faults: string[] = []
  if (taskIds.size > 1) faults.push(`was created ${taskIds.size} times by one key`)

  const wins = grouped(
    resumes.filter(({ outcome }) => outcome.kind === 'done'),
    ({ handle }) => handle,
  )
  for (const [handle, races] of wins) {
    const winners = new Set(races.map(({ key }) => key))
    const logged = log.flatMap((one) =>
      (one.type === 'resumed' || one.type === 'pause-withdrawn') && one.handle === handle
        ? [one.idempotencyKey]
        : [],
    )
    if (winners.size > 1) faults.push(`has two winners of the resume of ${handle}`)
    if (logged.length !== 1 || !winners.has(`${logged[0]}`)) {
      faults.push(`told ${[...winners]} that it won, and the log says ${logged}`)
    }
  }

  for (const [messageId, { kind }] of messages) {
    const times = log.filter(
      (one) =>
        (one.type === 'message' || one.type === 'answered' || one.type === 'asked-again') &&
        (one.type === 'asked-again' ? one.answer : one.message).messageId === messageId,
    ).length
    const wanted = kind === 'done' ? 1 : 0
    if (times !== wanted) faults.push(`has ${messageId} ${times} times, and it was ${kind}`)
  }
  for (const [id, { kind }] of reminders) {
    const times = log.filter(
      (one) => one.type === 'reminder-injected' && one.reminder.id === id,
    ).length
    const wanted = kind === 'done' ? 1 : 0
    if (times !== wanted) faults.push(`has ${id} ${times} times, and it was ${kind}`)
  }
  return faults
}

/** A task is read from its snapshot and the records after it. That is the task that its whole log leads to. */
export function faultsOfStored(
  stored: StoredTask | undefined,
  log: readonly LogRecord[],
): readonly string[] {
  const isSame = stored && same(fold(stored.records, stored.snapshot)) === same(fold(log))
  return isSame ? [] : ['is stored as another task than it was logged']
}

const same = (value: unknown): string => JSON.stringify(sorted(value))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]),
  )
}
