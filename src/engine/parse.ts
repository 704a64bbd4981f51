/** Turns unknown input into what a schema says it is, or into a refusal that names the place and says what to send. */
import type { z } from 'zod'
import { LullError } from '../core/errors.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

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

/** Schemas follow the nesting of a value, so one that is nested without end must end here. */
function tried<T extends z.ZodType>(
  schema: T,
  value: unknown,
  root: string,
): z.ZodSafeParseResult<z.output<T>> {
  try {
    const quick = schema.safeParse(value)
    // Words cost more than the check itself: only what is refused is parsed again for them.
    return quick.success ? quick : schema.safeParse(value, { error: sentence })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new LullError('INVALID_INPUT', { path: root, problem: 'is nested too deeply' })
  }
}

/**
 * In a union, the branch that got furthest says more than "no branch matched". A branch that only misses its own key was
 * not meant.
 */
function deepest(issue: Issue | undefined, value: unknown): Issue | undefined {
  if (issue?.code !== 'invalid_union' || issue.errors.length === 0) return issue
  const here = issue.path.reduce<unknown>(member, value)
  const inner = issue.errors
    .map((branch) => deepest(branch[0], here))
    .filter((one) => one?.path[0] !== undefined && member(here, one.path[0]) !== undefined)
    .sort((a, b) => (b?.path.length ?? 0) - (a?.path.length ?? 0))[0]
  if (inner === undefined) return issue
  return { ...inner, path: [...issue.path, ...inner.path] }
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/** What to send instead. A schema's own words come first; these are for the rest. */
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
