import type { Json } from '../values/json.ts'
import { type Message, textOf } from './message.ts'

/** A value in a message, and the path to it within the message. */
export interface MessageValue {
  readonly value: Json
  readonly path: string
}

/**
 * The values that a message may mean, the likeliest first: its first data part; without one the
 * text, then the text parsed as JSON, because some clients can send only text.
 */
export function valuesIn(
  message: Pick<Message, 'parts'>,
): readonly [MessageValue, ...MessageValue[]] {
  const index = message.parts.findIndex((part) => 'data' in part)
  const part = message.parts[index]
  if (part !== undefined && 'data' in part)
    return [{ value: part.data, path: `parts.${index}.data` }]
  const text = textOf(message)
  const asText = { value: text, path: 'parts' }
  const parsed = parsedFrom(text)
  if (parsed === undefined) return [asText]
  const asJson = { value: parsed, path: 'parts' }
  return typeof parsed === 'object' && parsed !== null ? [asJson, asText] : [asText, asJson]
}

function parsedFrom(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
