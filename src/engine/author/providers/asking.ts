/** Calls the providers of an agent and checks the reminders that they return. */
import type { Providing } from '../../../core/commands.ts'
import { providing } from '../../../core/decide/reminding.ts'
import { isLullError } from '../../../core/errors.ts'
import type { ProvidedReminder } from '../../../core/reminders/reminders.ts'
import type { Task } from '../../../core/task.ts'
import { reminderInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import { toReminder } from '../../requests/remind/to-reminder.ts'
import type { RunHost } from '../../run/host.ts'
import type { Agent } from '../agent.ts'
import { notAwaited } from '../not-awaited.ts'
import { providersOf } from './built-in.ts'
import type { ProviderInput, ReminderProvider } from './provider.ts'

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
