/** `historyLength`: the number of messages of the history that a caller asks for. */
import type { Message } from '../../../core/messages/message.ts'
import { weightOf } from '../../../core/values/weight.ts'
import { optionalInteger, type Params } from '../addresses/params.ts'

export function readHistoryLength(configuration: Params): number | undefined {
  const path = 'configuration.historyLength'
  return optionalInteger(configuration, 'historyLength', { min: 0 }, path)
}

/**
 * The newest messages: at most so many, and at most so many bytes of them. The newest one is always among them, unless none
 * is asked for.
 */
export type NewestMessages = (
  history: readonly Message[],
  length: number | undefined,
) => readonly Message[]

export function createNewest(bytes: number): NewestMessages {
  return (history, length = history.length) => {
    const first = Math.max(0, history.length - length)
    let from = history.length
    for (let used = 0; from > first; from--) {
      used += weightOf(history[from - 1])
      if (used > bytes && from < history.length) break
    }
    return from === 0 ? history : history.slice(from)
  }
}
