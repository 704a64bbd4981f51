/** Injecting, listing and clearing reminders. */
import type { Client } from '../client.ts'
import { isClientError, unsupported } from '../client-error.ts'
import { readAccepted } from '../control-shapes.ts'
import type { ClientParts } from '../parts.ts'
import type { ReminderFallback, ReminderInput, RemindOutcome } from '../reminder-shapes.ts'
import { operations } from '../wire/a2a-names.ts'
import { readReminder } from '../wire/extension-metadata.ts'
import { isObject, listIn, numberIn } from '../wire/json-members.ts'

type Reminding = Pick<Client, 'remind' | 'reminders' | 'clearReminders'>

export function createReminders(parts: ClientParts): Reminding {
  const { transport, attached } = parts

  async function isOffered(fallback: ReminderFallback, signal?: AbortSignal): Promise<boolean> {
    const card = fallback === 'fail' ? parts.knownCard() : await parts.card({ signal })
    return card?.capabilities.reminders.inject ?? true
  }

  function instead(
    taskId: string,
    reminder: ReminderInput,
    fallback: ReminderFallback,
  ): RemindOutcome {
    if (fallback === 'suppress') return { outcome: 'suppressed' }
    if (fallback === 'fail') throw unsupported('reminders')
    const { id, ahead } = attached.add(taskId, reminder)
    return { outcome: 'attached', reminderId: id, ahead }
  }

  return {
    async remind(taskId, given, { fallback = 'fail', metadata, signal } = {}) {
      const reminder = typeof given === 'string' ? { body: given } : given
      if (!(await isOffered(fallback, signal))) return instead(taskId, reminder, fallback)
      try {
        const params = { taskId, reminder, metadata }
        return readAccepted(await transport.call(operations.remind, params, { signal }))
      } catch (error) {
        if (!isClientError(error) || error.kind !== 'unsupported') throw error
        return instead(taskId, reminder, fallback)
      }
    },
    async reminders(taskId, { signal } = {}) {
      const answer = await transport.call(operations.listReminders, { taskId }, { signal })
      return listIn(answer, 'reminders').filter(isObject).map(readReminder)
    },
    async clearReminders(taskId, which = {}, { signal } = {}) {
      const params = { taskId, ...which }
      const answer = await transport.call(operations.clearReminders, params, { signal })
      return { clearedCount: numberIn(answer, 'clearedCount') ?? 0 }
    },
  }
}
