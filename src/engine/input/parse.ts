/** Checks unknown input against a schema. An error names the path of the mistake and says what to send instead. */
import type { z } from 'zod'
import { LullError } from '../../core/errors.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

declare const isChecked: unique symbol

/** An input that `check` has returned. */
export type Checked<T> = T & { readonly [isChecked]: true }

/**
 * Parses an input that may have been checked before: what it has returned for the same schema, it returns again at once. So
 * a protocol can check a request before it looks at it, and the engine checks it only when a caller in this process made
 * it. The schema is one that makes a new object. A copy of a checked input is checked again.
 *
 * @throws LullError `INVALID_INPUT` with the path of the first mistake
 */
export function check<T extends object>(
  schema: z.ZodType<T>,
  value: unknown,
  root = '',
): Checked<T> {
  if (isMarked(schema, value)) return value
  const checked = parse(schema, value, root)
  new Mark(checked, schema)
  return checked as Checked<T>
}

function isMarked<T>(schema: z.ZodType<T>, value: unknown): value is Checked<T> {
  return typeof value === 'object' && value !== null && Mark.of(value) === schema
}

class Same {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: adds the private field to an object that exists
    return object
  }
}

/** A private field of a checked input. It is on no copy, no reader sees it, and it costs less than an entry of a WeakMap. */
class Mark extends Same {
  readonly #schema: z.ZodType

  constructor(checked: object, schema: z.ZodType) {
    super(checked)
    this.#schema = schema
  }

  static of(object: object): z.ZodType | undefined {
    return #schema in object ? object.#schema : undefined
  }
}

/** @throws LullError `INVALID_INPUT` with the path of the first mistake */
export function parse<T extends z.ZodType>(schema: T, value: unknown, root = ''): z.output<T> {
  const result = tried(schema, value, root)
  if (result.success) return result.data
  const issue = deepest(result.error.issues[0], value)
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const path = [root, ...(issue?.path ?? []), unknownKey].filter(
    (key) => key !== undefined && key !== '',
  )
  throw new LullError('INVALID_INPUT', {
    path: path.join('.'),
    problem: issue?.message ?? 'is not valid',
  })
}

/** A value that is nested too deeply overflows the stack of the schema, which is reported as invalid input. */
function tried<T extends z.ZodType>(
  schema: T,
  value: unknown,
  root: string,
): z.ZodSafeParseResult<z.output<T>> {
  try {
    const quick = schema.safeParse(value)
    // Making error texts costs more than the check. Only a value that failed is parsed again with texts.
    return quick.success ? quick : schema.safeParse(value, { error: sentence })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new LullError('INVALID_INPUT', { path: root, problem: 'is nested too deeply' })
  }
}

/**
 * Of a failed union, the error of the branch that matched deepest is the most useful one. Branches whose own key is
 * absent in the value are ignored.
 */
function deepest(issue: Issue | undefined, value: unknown): Issue | undefined {
  if (issue?.code !== 'invalid_union' || issue.errors.length === 0) return issue
  const here = issue.path.reduce<unknown>(memberOf, value)
  const inner = issue.errors
    .map((branch) => deepest(branch[0], here))
    .filter((one) => one?.path[0] !== undefined && memberOf(here, one.path[0]) !== undefined)
    .sort((a, b) => (b?.path.length ?? 0) - (a?.path.length ?? 0))[0]
  if (inner === undefined) return issue
  return { ...inner, path: [...issue.path, ...inner.path] }
}

/** A member of a value that is not checked. */
export function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/** Says what to send instead, for errors to which the schema gave no text of its own. */
function sentence(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${a(String(issue.expected))}`
    case 'too_small':
      return `must ${sizeOf(issue)} at least ${issue.minimum}`
    case 'too_big':
      return `must ${sizeOf(issue)} at most ${issue.maximum}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'unrecognized_keys':
      return 'is not a known field'
    case 'invalid_format':
      return `must be ${a(String(issue.format))}`
    case 'invalid_union':
      return 'is none of the shapes that are possible here'
    default:
      return 'is not valid'
  }
}

function sizeOf(issue: RawIssue & { readonly code: 'too_small' | 'too_big' }): string {
  return issue.origin === 'string' || issue.origin === 'array' ? 'have a length of' : 'be'
}

function a(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}
