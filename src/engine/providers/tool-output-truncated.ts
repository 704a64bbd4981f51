import type { Json } from '../../core/json.ts'
import type { ReminderProvider } from './provider.ts'

export interface ToolOutputTruncatedOptions {
  /** Whether a result is only a part of it. Default: it is an object that says `truncated: true`. */
  readonly isTruncated?: (result: Json) => boolean
}

/** Tells the agent that it has not seen all of what a tool or step gave. */
export function toolOutputTruncated({
  isTruncated = saysSo,
}: ToolOutputTruncatedOptions = {}): ReminderProvider {
  return (moment) => {
    if (moment.type !== 'step' || moment.result === undefined) return undefined
    if (!isTruncated(moment.result)) return undefined
    return {
      body: `The output of "${moment.name}" was cut off: what you have is not all of it.`,
      tags: ['truncation'],
      dedupeKey: `provider:toolOutputTruncated:${moment.name}`.slice(0, 256),
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
