/** A question as a form, as ACP and MCP clients show it: one field for a text or a choice, or the fields of a flat schema. */
import { isPlainObject, type Json, type JsonObject } from '../values/json.ts'
import { type Message, type Part, textOf } from './message.ts'
import type { QuestionFacts } from './question-part.ts'

export interface QuestionForm {
  readonly mode: 'form'
  readonly message: string
  readonly requestedSchema: JsonObject
}

export function formOf({
  message,
  choices,
  schema,
}: QuestionFacts & { readonly message: Message }): QuestionForm {
  const form = { mode: 'form', message: textOf(message) } as const
  if (choices === undefined && schema !== undefined && isFlat(schema)) {
    return { ...form, requestedSchema: schema }
  }
  const one =
    choices === undefined
      ? { minLength: 1 }
      : { oneOf: choices.map(({ value, label = value }) => ({ const: value, title: label })) }
  return {
    ...form,
    requestedSchema: {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer', ...one } },
      required: ['answer'],
    },
  }
}

/** The filled-in form as a part of the answer. Undefined if the client dismissed the question. */
export function filledIn({ choices, schema }: QuestionFacts, answer: unknown): Part | undefined {
  const { action, content } = answer as { readonly action?: string; readonly content?: unknown }
  if (action !== 'accept' || !isPlainObject(content)) return undefined
  if (choices === undefined && schema !== undefined && isFlat(schema)) {
    return { data: content as Json }
  }
  const given: unknown = Reflect.get(content, 'answer')
  return typeof given === 'string' && given !== '' ? { text: given } : undefined
}

const primitives: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean'])

/** Whether all fields of the schema are primitive. Forms cannot show others. */
function isFlat({ type, properties }: JsonObject): boolean {
  if (type !== 'object' || !isPlainObject(properties)) return false
  return Object.values(properties).every(
    (field: unknown) => isPlainObject(field) && primitives.has(Reflect.get(field, 'type')),
  )
}
