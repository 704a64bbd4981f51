/**
 * Limits on the size of an input, checked before a schema visits its members. zod checks every member first, collects an issue
 * for each wrong one, and looks at `.max()` last: a list of a million wrong members takes seconds.
 */
import { z } from 'zod'

/** A list of at most `max` items. A longer one is refused before its items are looked at. */
export function list<T>(item: z.ZodType<T>, max: number, min = 0): z.ZodType<readonly T[]> {
  return bounded(z.array(item).min(min).max(max), (value) =>
    Array.isArray(value) && value.length > max ? `must have at most ${max} items` : undefined,
  )
}

export function tooManyMembers(value: unknown, max: number): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length <= max) {
    return undefined
  }
  return `must have at most ${max} members`
}

/** Values and names in a value, at any depth; counting ends above `max`. */
export function tooLarge(value: unknown, max: number): string | undefined {
  let left = max
  const visit = (one: unknown): void => {
    if (--left < 0 || typeof one !== 'object' || one === null) return
    for (const member of Object.values(one)) visit(member)
  }
  visit(value)
  return left < 0 ? `must have at most ${max} members, at any depth` : undefined
}

/** Refuses a value with the problem that `problemOf` finds, and only otherwise lets the schema look at it. */
export function bounded<S extends z.ZodType>(
  schema: S,
  problemOf: (value: unknown) => string | undefined,
): z.ZodType<z.output<S>> {
  return z.preprocess((value, context) => {
    const message = problemOf(value)
    if (message === undefined) return value
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }, schema) as z.ZodType<z.output<S>>
}
