import { type Duration, durationMs } from '../../../core/values/duration.ts'
import type { ReminderProvider } from './provider.ts'

/**
 * Reminds a turn that nothing was recorded for `afterMs` before it, for example in a loop that polls. A stop does not
 * count, because `resumed` reports it.
 *
 * @example
 * ```ts
 * import { agent, idle } from 'lull'
 *
 * export const poller = agent({
 *   name: 'poller',
 *   description: 'Is told when nothing happened for five minutes',
 *   providers: { idle: idle({ afterMs: '5 minutes' }) },
 *   run: (task) => `Reminders: ${task.reminderBlock}`,
 * })
 * ```
 */
export function idle({ afterMs = 60_000 }: { readonly afterMs?: Duration } = {}): ReminderProvider {
  const longest = durationMs(afterMs, 'afterMs')
  return (input) => {
    if (input.type !== 'turn-starting' || input.idleMs < longest) return undefined
    const seconds = Math.floor(input.idleMs / 1_000)
    return {
      body: `Nothing happened for ${seconds} seconds before this turn. Go on, or come to an end.`,
      tags: ['idle'],
      ttlTurns: 1,
      propagate: 'none',
      source: 'lull',
    }
  }
}
