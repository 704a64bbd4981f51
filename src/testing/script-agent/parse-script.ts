/**
 * Reads and validates the script in a message. The whole script is validated before its first op
 * runs.
 */
import { z } from 'zod'
import { isLullError } from '../../core/errors.ts'
import { type Message, textOf } from '../../core/messages/message.ts'
import { reject } from '../../engine/author/agent.ts'
import { json, parkInput } from '../../engine/input/inputs.ts'
import { parse } from '../../engine/input/parse.ts'
import type { OpName, Ops, ScriptOp } from './ops.ts'

/**
 * The ops of the script. Undefined for a message without one.
 * @throws Rejection that names the op, such as `2.turn.0`
 */
export function parseScript(message: Message): readonly ScriptOp[] | undefined {
  const found = scriptIn(message)
  if (found === undefined) return undefined
  check(script, found, '')
  const { script: ops } = found as { readonly script: readonly ScriptOp[] }
  checkOps(ops, '', 'top')
  return ops
}

/** Finds the script: the first data part, or else the text, if it is an object with a `script`. */
function scriptIn(message: Message): object | undefined {
  const part = message.parts.find((one) => 'data' in one)
  const places = [part !== undefined && 'data' in part ? part.data : undefined, objectIn(message)]
  return places.find(
    (place): place is { script: never } =>
      typeof place === 'object' && place !== null && Object.hasOwn(place, 'script'),
  )
}

function objectIn(message: Message): unknown {
  const text = textOf(message).trim()
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Place = 'top' | 'turn'

function checkOps(ops: readonly unknown[], path: string, place: Place): void {
  for (const [index, op] of ops.entries()) {
    const at = path === '' ? `${index}` : `${path}.${index}`
    const name = nameOf(op, at)
    checkPlace(name, at, place)
    checkShape(name, op, at)
    if (name === 'reply' && ops.length > 1) refuse(at, 'nothing may follow a reply')
    const within = place === 'turn' || name === 'turn' ? 'turn' : 'top'
    for (const [key, list] of listsIn(name, op)) {
      checkOps(list, `${at}.${key}`, name === 'delegate' ? 'top' : within)
    }
  }
}

function nameOf(op: unknown, at: string): OpName {
  if (typeof op !== 'object' || op === null || Array.isArray(op)) refuse(at, 'must be an object')
  const keys = Object.keys(op)
  const names = keys.filter((key): key is OpName => Object.hasOwn(shapes, key))
  const [name, second] = names
  if (name === undefined) refuse(at, `unknown op "${keys[0] ?? ''}"`)
  if (second !== undefined) refuse(at, `has both "${name}" and "${second}"; one op each`)
  return name
}

function checkPlace(name: OpName, at: string, place: Place): void {
  if (name === 'reply' && at !== '0') refuse(at, 'a reply may only come first')
  const belongs = placeOf[name]
  if (belongs === 'turn' && place !== 'turn') refuse(at, `"${name}" belongs into a turn`)
  if (belongs === 'top' && place === 'turn') refuse(at, `"${name}" cannot be inside a turn`)
}

function refuse(at: string, problem: string): never {
  throw reject(`${at}: ${problem}`)
}

function checkShape<N extends OpName>(name: N, op: unknown, at: string): asserts op is Ops[N] {
  check(shapes[name], op, at)
}

function check(shape: z.ZodType, value: unknown, at: string): void {
  try {
    parse(shape, value, at)
  } catch (error) {
    if (isLullError(error)) throw reject(error.message)
    throw error
  }
}

const placeOf: Readonly<Partial<Record<OpName, Place>>> = {
  tool: 'turn',
  tools: 'turn',
  turn: 'top',
}

/** The lists of ops inside an op, with their path. */
const nested: {
  readonly [N in OpName]?: (op: Ops[N]) => readonly (readonly [string, readonly unknown[]])[]
} = {
  parallel: ({ parallel }) => parallel.map((branch, index) => [`parallel.${index}`, branch]),
  turn: ({ turn }) => [['turn', turn]],
  repeat: ({ ops }) => [['ops', ops]],
  delegate: ({ delegate }) => [['delegate.script', delegate.script]],
}

function listsIn<N extends OpName>(
  name: N,
  op: Ops[N],
): readonly (readonly [string, readonly unknown[]])[] {
  return nested[name]?.(op) ?? []
}

const text = z.string()
const name = text.min(1, 'must not be empty')
/** The elements are validated one by one. */
const list = z.array(z.unknown(), 'must be a list of ops')
const script = z.strictObject({ script: list })
/** Timers of Node overflow above this. */
const LONGEST_MS = 2_147_483_647
const chunkCount = z.number().int().min(1).max(10_000)
const manner = {
  ms: z.number().min(0).max(LONGEST_MS).optional(),
  stubborn: z.boolean().optional(),
  throw: text.optional(),
  stream: text.optional(),
  chunks: chunkCount.optional(),
}
const work = <S extends z.ZodRawShape>(shape: S): z.ZodType =>
  z
    .strictObject({ ...shape, ...manner })
    .refine((given) => !('chunks' in given) || 'stream' in given, 'only a stream comes in chunks')
const count = z.number().min(0).optional()

const artifact = z
  .strictObject({
    name: text,
    text: text.optional(),
    data: json.optional(),
    base64: z.base64().optional(),
    url: text.min(1).optional(),
    mediaType: text.optional(),
    chunks: chunkCount.optional(),
  })
  .refine(
    (given) => ['text', 'data', 'base64', 'url'].filter((key) => key in given).length === 1,
    'must have exactly one of text, data, base64 or url',
  )
  .refine(
    ({ chunks, ...given }) => chunks === undefined || 'text' in given || 'base64' in given,
    'only text and base64 come in chunks',
  )

const shapes: { readonly [N in OpName]: z.ZodType } = {
  reply: z.strictObject({ reply: text }),
  say: z.strictObject({ say: text }),
  step: work({ step: name }),
  parallel: z.strictObject({ parallel: z.array(list, 'must be a list of lists of ops') }),
  compact: z.strictObject({ compact: z.literal(true) }),
  turn: z.strictObject({ turn: list }),
  tool: work({ tool: name }),
  tools: z.strictObject({ tools: z.array(work({ name })) }),
  artifact: z.strictObject({ artifact }),
  park: z.strictObject({ park: parkInput }),
  ask: z.strictObject({ ask: text }),
  auth: z.strictObject({ auth: text }),
  consent: z.strictObject({ consent: z.strictObject({ prompt: text, operation: json }) }),
  echo: z.strictObject({
    echo: z.enum(['input', 'wake', 'reminders', 'transcript', 'messages']),
  }),
  usage: z.strictObject({
    usage: z.strictObject({
      inputTokens: count,
      outputTokens: count,
      costUsd: count,
      contextWindow: z.number().positive().optional(),
    }),
  }),
  delegate: z.strictObject({ delegate: script, wait: z.boolean().optional() }),
  child: z
    .strictObject({
      child: z.enum(['pause', 'resume', 'cancel', 'remind', 'wait']),
      body: text.optional(),
    })
    .refine(({ child, body }) => child !== 'remind' || body !== undefined, {
      path: ['body'],
      message: 'a reminder needs one',
    }),
  repeat: z.strictObject({ repeat: z.number().int().min(0), ops: list }),
  fail: z.strictObject({ fail: text }),
  reject: z.strictObject({ reject: text }),
  complete: z.strictObject({ complete: text }),
}
