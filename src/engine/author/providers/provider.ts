/**
 * Providers: functions of an agent that add reminders to its tasks. Each provider is called when a turn starts and for
 * each journal record. Its reminders are written in the same commit, so a crash can neither lose nor repeat them.
 */

import type { Providing } from '../../../core/commands.ts'
import { providing } from '../../../core/decide/reminding.ts'
import { isLullError } from '../../../core/errors.ts'
import type { JournalRecord } from '../../../core/records.ts'
import type { ProvidedReminder } from '../../../core/reminders/reminders.ts'
import type { Wake } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { reminderInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import { toReminder } from '../../requests/remind/reminders.ts'
import type { RunHost } from '../../run/host.ts'
import type { Agent } from '../agent.ts'
import { providersOf } from './built-in.ts'

/** A turn is about to start. It sees the reminders that providers return now. */
export interface TurnStart {
  readonly type: 'turn-starting'
  readonly turn: number
  /** The time since the last record of the task. */
  readonly idleMs: number
  /** The end of the last stop, if there was one since the previous turn. */
  readonly wake?: Wake
  /** The text that replaces the transcript after a resume with `continueTranscript: false`. */
  readonly digest?: string
}

/**
 * What a provider is called with: the start of a turn, or a record of the run such as a step, usage or the end of a
 * turn.
 */
export type ProviderInput = TurnStart | JournalRecord

/**
 * Returns reminders for the task, or nothing. It is called synchronously while the run writes, so it must be quick and
 * must not return a promise. An error that it throws is logged and otherwise ignored.
 *
 * @param task the task before the turn or record
 */
export type ReminderProvider = (
  input: ProviderInput,
  task: Task,
) => ReminderRequest | readonly ReminderRequest[] | undefined | false

/** Providers by name. A function is the agent's own provider. False switches a built-in one off, true leaves it on. */
export type ReminderProviders = Readonly<Record<string, ReminderProvider | boolean>>

/** The members of an agent that concern reminders. */
export interface RemindedAgent {
  readonly reminders?: boolean
  readonly providers?: ReminderProviders
}

/** Calls the providers of an agent and checks the reminders that they return. */
export type Ask = (input: ProviderInput, task: Task) => Providing

const silent: Providing = {}

export function createAsk(
  host: Pick<RunHost, 'clock' | 'ids' | 'log' | 'limits'>,
  agent: Agent,
): Ask {
  const providers = providersOf(agent)

  /**
   * The reminders of one provider. A provider that throws is logged and does not affect the task.
   */
  function wantedBy(
    name: string,
    provider: ReminderProvider,
    input: ProviderInput,
    task: Task,
  ): readonly ProvidedReminder[] | undefined {
    try {
      const wanted = notAwaited(provider(input, task))
      if (wanted === undefined || wanted === false) return undefined
      const list = Array.isArray(wanted) ? wanted : [wanted]
      return list.map((request) => provided(name, parse(reminderInput, request)))
    } catch (error) {
      const why = isLullError(error, 'INVALID_INPUT') ? error.message : error
      host.log('error', 'a reminder provider failed', {
        agent: agent.name,
        taskId: task.id,
        provider: name,
        error: why,
      })
      return undefined
    }
  }

  /** Logs each reminder that is dropped because too many are pending. */
  function reportLeftOut(task: Task, wanted: Required<Providing>): void {
    const before = new Set(task.reminders.map(({ reminder }) => reminder.id))
    const { records } = providing(task.reminders, wanted)
    for (const one of records) if (one.type === 'reminder-injected') before.add(one.reminder.id)
    for (const { provider, reminder } of wanted.provided) {
      if (before.has(reminder.id)) continue
      const facts = { agent: agent.name, taskId: task.id, provider, limit: wanted.limit }
      host.log('warn', 'a reminder of a provider was left out: too many are pending', facts)
    }
  }

  function provided(provider: string, request: ReminderRequest): ProvidedReminder {
    const dedupeKey = request.dedupeKey ?? `provider:${provider}`
    const source = request.source ?? provider
    const id = `reminder-${host.ids.uuid()}`
    const given = { ...request, dedupeKey, source }
    return { provider, reminder: toReminder(given, id, host.clock.now()) }
  }

  return (input, task) => {
    let all: readonly ProvidedReminder[] | undefined
    for (const [name, provider] of providers) {
      const wanted = wantedBy(name, provider, input, task)
      if (wanted !== undefined) all = all === undefined ? wanted : [...all, ...wanted]
    }
    if (all === undefined) return silent
    const wanted = { provided: all, limit: host.limits.pendingReminders }
    if (task.reminders.length + all.length > wanted.limit) reportLeftOut(task, wanted)
    return wanted
  }
}

/**
 * For agent code that must answer synchronously. If it returns a promise anyway, nobody awaits it,
 * so a later rejection must be caught here, because it would end the process.
 */
export function notAwaited<T>(result: T): T {
  if (result instanceof Promise) result.catch(() => undefined)
  return result
}
