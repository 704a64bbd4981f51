/** Implements `historyLength`: how many messages of the history an answer contains. */
import type { Message } from '../../../core/messages/message.ts'
import { weightOf } from '../../../core/values/weight.ts'
import { optionalInteger, type Params } from '../addresses/params.ts'

export function readHistoryLength(configuration: Params): number | undefined {
  const path = 'configuration.historyLength'
  return optionalInteger(configuration, 'historyLength', { min: 0 }, path)
}

/**
 * Returns the newest messages, limited in number and in bytes. The newest one is always included,
 * unless `length` is 0.
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
