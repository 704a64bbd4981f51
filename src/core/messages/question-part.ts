/** A question's message has one data part that tells programs its choices and schema. */

import type { Json, JsonObject, MembersOf } from '../values/json.ts'
import type { Choice } from './choices.ts'
import type { Part } from './message.ts'

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
