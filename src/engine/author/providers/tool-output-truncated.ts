import type { Json } from '../../../core/values/json.ts'
import type { ReminderProvider } from './provider.ts'

export interface ToolOutputTruncatedOptions {
  /** Whether a result is incomplete. Default: it is an object with `truncated: true`. */
  readonly isTruncated?: (result: Json) => boolean
}

/**
 * Warns that the result of a tool or step is incomplete.
 *
 * @example
 * ```ts
 * import { agent, toolOutputTruncated } from 'lull'
 *
 * export const searcher = agent({
 *   name: 'searcher',
 *   description: 'Is told that it saw only the first results',
 *   providers: { truncated: toolOutputTruncated() },
 *   async run(task) {
 *     await task.step('search', () => ({ hits: ['a', 'b'], truncated: true }))
 *     return `Reminders: ${task.reminderBlock}`
 *   },
 * })
 * ```
 */
export function toolOutputTruncated({
  isTruncated = saysSo,
}: ToolOutputTruncatedOptions = {}): ReminderProvider {
  return (input) => {
    if (input.type !== 'step' || input.result === undefined) return undefined
    if (!isTruncated(input.result)) return undefined
    return {
      body: `The output of "${input.name}" was cut off: what you have is not all of it.`,
      tags: ['truncation'],
      dedupeKey: `provider:toolOutputTruncated:${input.name}`.slice(0, 256),
      ttlTurns: 1,
      propagate: 'none',
      source: 'lull',
    }
  }
}

function saysSo(result: Json): boolean {
  return (
    typeof result === 'object' &&
    result !== null &&
    !Array.isArray(result) &&
    'truncated' in result &&
    result['truncated'] === true
  )
}
