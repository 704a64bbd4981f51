/** Reads query parameters with a schema. */
import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import { parse } from '../../engine/input/parse.ts'

/** A parameter is a list when its schema is an array. @throws LullError `INVALID_INPUT` that names the parameter */
export function readQuery<T extends z.ZodObject>(schema: T, query: URLSearchParams): z.output<T> {
  // Without a prototype, `__proto__` is a name like every other.
  const given: Record<string, unknown> = Object.create(null)
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    const item = itemOf(schema, name)
    // The error names the parameter, without the place in a list that a query does not have.
    if (item !== undefined) for (const value of values) parse(item, value, name)
    if (item !== undefined) given[name] = values
    else if (values.length === 1) given[name] = values[0]
    else throw new LullError('INVALID_INPUT', { path: name, problem: 'is given twice' })
  }
  return parse(schema, given)
}

/** The schema of an item, if the parameter is a list. */
function itemOf({ shape }: z.ZodObject, name: string): z.ZodType | undefined {
  const member = Object.hasOwn(shape, name) ? shape[name] : undefined
  const type = member instanceof z.ZodOptional ? member.unwrap() : member
  const item = type instanceof z.ZodArray ? type.element : undefined
  return item instanceof z.ZodType ? item : undefined
}

/** A whole number in decimal digits. */
export const count: z.ZodType<number | undefined> = z
  .string()
  .regex(/^\d{1,6}$/, 'must be a whole number')
  .transform(Number)
  .optional()

/** `true` or `false`. */
export const flag: z.ZodType<boolean | undefined> = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()
