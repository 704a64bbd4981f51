import type { UsageReport } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { ReminderProvider } from './provider.ts'

export interface TokenPressureOptions {
  /**
   * The size of the model's context window in tokens. `contextWindow` of a usage report takes
   * precedence.
   */
  readonly window?: number
}

interface Level {
  readonly from: number
  readonly tag: string
  readonly advice: string
}

/** The highest level comes first. */
const levels: readonly Level[] = [
  { from: 0.95, tag: 'critical', advice: 'Finish now, or hand over what you have.' },
  { from: 0.85, tag: 'warning', advice: 'Keep to what is needed to finish.' },
  { from: 0.7, tag: 'caution', advice: 'Be brief, and leave out what you do not need.' },
]

/**
 * Warns at 70, 85 and 95 percent of the model's context window, based on the reports of
 * `task.usage`. Adds nothing while a reminder of the same level is pending, or if the size of the
 * window is not known.
 *
 * @example
 * ```ts
 * import { agent, tokenPressure } from 'lull'
 *
 * export const writer = agent({
 *   name: 'writer',
 *   description: 'Is warned when the window of its model fills up',
 *   providers: { tokens: tokenPressure({ window: 200_000 }) },
 *   async run(task) {
 *     await task.usage({ inputTokens: 150_000, outputTokens: 2_000 })
 *     return `Reminders: ${task.reminderBlock}`
 *   },
 * })
 * ```
 */
export function tokenPressure({ window }: TokenPressureOptions = {}): ReminderProvider {
  return (input, task) => {
    if (input.type !== 'usage') return undefined
    const filled = fillOf(input.usage, window)
    const level = levels.find(({ from }) => filled >= from)
    if (level === undefined || isPending(task, level)) return undefined
    const percent = Math.floor(filled * 100)
    return {
      body: `${percent} percent of the context window are used. ${level.advice}`,
      tags: ['token-pressure', level.tag],
      dedupeKey: DEDUPE_KEY,
      ttlTurns: 2,
      preserveOnCompact: level.tag === 'critical',
      roleHint: 'developer',
      source: 'lull',
    }
  }
}

const DEDUPE_KEY = 'provider:tokenPressure'

function fillOf(usage: UsageReport, configured: number | undefined): number {
  const { inputTokens = 0, outputTokens = 0, contextWindow = configured } = usage
  return contextWindow === undefined ? 0 : (inputTokens + outputTokens) / contextWindow
}

function isPending({ reminders }: Task, { tag }: Level): boolean {
  return reminders.some(
    ({ reminder }) => reminder.dedupeKey === DEDUPE_KEY && reminder.tags.includes(tag),
  )
}
