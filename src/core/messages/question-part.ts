/** The choices that a question offers. Its message has one data part that tells programs its choices and schema. */

import type { Json, JsonObject, MembersOf } from '../values/json.ts'
import type { Message, Part } from './message.ts'
import { valuesIn } from './message-values.ts'

export const QUESTION_TYPE = 'application/vnd.lull.question+json'

export interface QuestionFacts {
  readonly choices?: readonly Choice[] | undefined
  /** The JSON Schema of the answer. */
  readonly schema?: JsonObject | undefined
}

/** The data part of a question. Empty when the question has neither choices nor a schema. */
export function questionParts({ choices, schema }: QuestionFacts): readonly Part[] {
  if (choices === undefined && schema === undefined) return []
  const data: Record<string, Json> = {}
  if (choices !== undefined) data['choices'] = choices.map((one): MembersOf<Choice> => ({ ...one }))
  if (schema !== undefined) data['schema'] = schema
  return [{ data, mediaType: QUESTION_TYPE }]
}

/** The parts without the one for programs: those that people read. */
export function withoutQuestionPart(parts: readonly Part[]): readonly Part[] {
  return parts.filter(({ mediaType }) => mediaType !== QUESTION_TYPE)
}

/** Reads the choices and schema from the parts of a question. Undefined if no part has them. */
export function questionIn(parts: readonly Part[]): QuestionFacts | undefined {
  const found = parts.find(({ mediaType }) => mediaType === QUESTION_TYPE)
  return found !== undefined && 'data' in found ? (found.data as QuestionFacts) : undefined
}

/** The answers that a question offers. */
export interface Choice {
  /** The value that the agent gets. */
  readonly value: string
  /** The text that people see. Default: the value. */
  readonly label?: string
}

/**
 * Finds the choice that the message names by value or label, ignoring case, and returns its value.
 * Undefined if the message names none.
 */
export function chosenIn(choices: readonly Choice[], message: Message): string | undefined {
  const [{ value }] = valuesIn(message)
  const said = String(value).trim()
  const exact = choices.find((choice) => choice.value === said || choice.label === said)
  const same = (text: string | undefined): boolean => text?.toLowerCase() === said.toLowerCase()
  return (exact ?? choices.find((choice) => same(choice.value) || same(choice.label)))?.value
}
