/** Checks an answer before it is written, in any process: what the question recorded is enough. */

import { isLullError } from '../../../core/errors.ts'
import { chosenIn } from '../../../core/messages/choices.ts'
import type { Message } from '../../../core/messages/message.ts'
import { valuesIn } from '../../../core/messages/message-values.ts'
import type { Question } from '../../../core/records.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { checkBySchema } from '../../input/check-by-schema.ts'

export interface WrongAnswer {
  readonly path: string
  readonly problem: string
}

/** Undefined: the answer is acceptable. The agent's own schema may still refuse it, and the run then asks again. */
export function wrongAnswer(
  { choices, schema }: Pick<Question, 'choices' | 'schema'>,
  message: Message,
): WrongAnswer | undefined {
  if (choices !== undefined) {
    if (chosenIn(choices, message) !== undefined) return undefined
    const offered = choices.map(({ value }) => value).join(', ')
    return { path: `message.${valuesIn(message)[0].path}`, problem: `must be one of ${offered}` }
  }
  if (schema === undefined) return undefined
  const [first, ...others] = valuesIn(message).map((one) => problemIn(schema, one))
  return others.includes(undefined) ? undefined : first
}

function problemIn(
  schema: JsonObject,
  { value, path }: ReturnType<typeof valuesIn>[number],
): WrongAnswer | undefined {
  try {
    checkBySchema(schema, value, `message.${path}`)
    return undefined
  } catch (error) {
    if (isLullError(error, 'INVALID_INPUT')) return error.details
    throw error
  }
}
