/** `historyLength`: the number of messages of the history that a caller asks for. */
import type { Message } from '../../../core/message.ts'
import { optionalInteger, type Params } from '../params.ts'

export function readHistoryLength(configuration: Params): number | undefined {
  const path = 'configuration.historyLength'
  return optionalInteger(configuration, 'historyLength', { min: 0 }, path)
}

export function newest(
  history: readonly Message[],
  length: number | undefined,
): readonly Message[] {
  if (length === undefined || length >= history.length) return history
  return length === 0 ? [] : history.slice(-length)
}
