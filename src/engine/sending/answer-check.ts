/** Checks an answer before it is written, in any process: what the question recorded is enough. */
import { z } from 'zod'
import { chosenIn } from '../../core/choices.ts'
import { isLullError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { valuesIn } from '../../core/message-values.ts'
import type { Question } from '../../core/records.ts'
import { parse } from '../parse.ts'

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
  const check = readable(schema)
  if (check === undefined) return undefined
  try {
    parse(check, value, `message.${path}`)
    return undefined
  } catch (error) {
    if (isLullError(error, 'INVALID_INPUT')) return error.details
    throw error
  }
}

const known = new WeakMap<JsonObject, z.ZodType | undefined>()

/** Undefined: the schema uses a feature that cannot be checked here. */
function readable(schema: JsonObject): z.ZodType | undefined {
  if (known.has(schema)) return known.get(schema)
  let check: z.ZodType | undefined
  try {
    check = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
  } catch {
    check = undefined
  }
  known.set(schema, check)
  return check
}
