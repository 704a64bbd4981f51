/** The input of a new task, checked with the schema of its agent before the task exists. */
import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { valuesIn } from '../../../core/messages/message-values.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Agent } from '../../author/agent.ts'
import { type Validation, validate } from '../../author/standard-schema.ts'
import { notJson } from '../../author/step-result.ts'

/** Undefined: the agent has no schema. @throws LullError `INVALID_INPUT` with the path of what is wrong */
export function inputOf(
  agent: Agent,
  message: Pick<Message, 'parts'>,
): Promise<Json> | Json | undefined {
  const { input: schema } = agent
  if (schema === undefined) return undefined
  const [first, ...others] = valuesIn(message).map(({ value, path }) =>
    validate(schema, value, `message.${path}`),
  )
  if (first === undefined) return undefined
  if (first instanceof Promise || others.some((other) => other instanceof Promise)) {
    return Promise.all([first, ...others]).then((all) => checked(agent, all))
  }
  return checked(agent, [first, ...others] as readonly Validation<unknown>[])
}

/** The first value that is valid. Without one, the problem of the first. */
function checked({ name }: Agent, all: readonly Validation<unknown>[]): Json {
  const valid = all.find((one) => one.problem === undefined)
  if (valid !== undefined && valid.problem === undefined) return asJson(name, valid.value)
  const { path, problem } = all[0] as Validation<unknown> & { readonly problem: string }
  throw new LullError('INVALID_INPUT', { path, problem })
}

/** A value that JSON would change is a mistake of the author, because a rebuilt run gets it from the log. */
function asJson(agent: string, value: unknown): Json {
  const wrong = notJson(value, 'input')
  if (wrong === undefined) return JSON.parse(JSON.stringify(value ?? null)) as Json
  throw new Error(`The input schema of agent ${agent} makes a value that is not JSON: ${wrong}`)
}
