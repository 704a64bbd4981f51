import type { ReminderProvider } from './provider.ts'

/**
 * Tells a turn that nothing happened for a while before it, such as in a loop that waits for something outside. Stops do
 * not count: `resumed` tells of them.
 */
export function idle({ afterMs = 60_000 }: { readonly afterMs?: number } = {}): ReminderProvider {
  return (moment) => {
    if (moment.type !== 'turn-starting' || moment.idleMs < afterMs) return undefined
    const seconds = Math.floor(moment.idleMs / 1_000)
    return {
      body: `Nothing happened for ${seconds} seconds before this turn. Go on, or come to an end.`,
      tags: ['idle'],
      ttlTurns: 1,
      propagate: 'none',
      source: 'lull',
    }
  }
}
