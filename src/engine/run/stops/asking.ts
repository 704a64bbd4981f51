/** What a `task.ask` asks: its parts, what an answer must be, and how the answer is read. */

import { chosenIn } from '../../../core/messages/choices.ts'
import type { Message, Part, PartInput } from '../../../core/messages/message.ts'
import { valuesIn } from '../../../core/messages/message-values.ts'
import { type QuestionFacts, questionParts } from '../../../core/messages/question-part.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import type { InMs } from '../../../core/values/duration.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { AskOptions, AskRequest } from '../../author/agent-task.ts'
import { jsonSchemaOf, type StandardSchemaV1, validate } from '../../author/standard-schema.ts'
import { askInput, askOptionsInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { partsOf } from '../outputs/parts.ts'

export interface Asking {
  /** @param problem why the answer before was refused */
  readonly parts: (problem?: string) => readonly Part[]
  readonly facts: QuestionFacts
  readonly expires: InMs<AskOptions>
  /** The same for a question that means the same. */
  readonly fingerprint: string
  readonly read: (answer: Message) => Promise<Reading>
}

export type Reading =
  | { readonly problem: string }
  | { readonly problem?: undefined; readonly value?: unknown }

export function askingOf(
  question: string | readonly PartInput[] | AskRequest,
  options: AskOptions = {},
): Asking {
  if (isParts(question)) {
    const parts = partsOf(question)
    return {
      parts: () => parts,
      facts: {},
      expires: parse(askOptionsInput, options, 'options'),
      fingerprint: canonical(parts),
      read: async () => ({}),
    }
  }
  return checkedAsking(question)
}

function isParts(
  question: string | readonly PartInput[] | AskRequest,
): question is string | readonly PartInput[] {
  return typeof question === 'string' || Array.isArray(question)
}

function checkedAsking(given: AskRequest): Asking {
  const { text, parts = [], choices, schema, ...expires } = parse(askInput, given, 'question')
  const shown = partsOf([{ text }, ...parts])
  const shape: JsonObject | undefined = schema && jsonSchemaOf(schema)
  const facts: QuestionFacts = { choices, schema: shape }
  return {
    parts: (problem) => [
      ...(problem === undefined ? [] : [{ text: problem }]),
      ...shown,
      ...questionParts(facts),
    ],
    facts,
    expires,
    // The JSON Schema may change with a version of the schema library, while the question stays the same.
    fingerprint: canonical([shown, choices ?? null].flat()),
    async read(answer) {
      const chosen = choices && chosenIn(choices, answer)
      return schema === undefined ? { value: chosen } : readWith(schema, answer, chosen)
    },
  }
}

async function readWith(
  schema: StandardSchemaV1,
  answer: Message,
  chosen: string | undefined,
): Promise<Reading> {
  const values = chosen === undefined ? valuesIn(answer).map(({ value }) => value) : [chosen]
  const read = await Promise.all(values.map((value) => validate(schema, value, '')))
  const valid = read.find((one) => one.problem === undefined)
  if (valid !== undefined) return valid
  const [first] = read
  if (first?.problem === undefined) return {}
  return { problem: first.path === '' ? first.problem : `${first.path}: ${first.problem}` }
}
