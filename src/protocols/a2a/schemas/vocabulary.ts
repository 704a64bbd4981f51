/** Schemas that several shapes use. */

import { z } from 'zod'

export const id: z.ZodType<string> = z.string().min(1).max(256)
export const handle: z.ZodType<string> = z.string().min(1)
/** An instant in UTC with milliseconds. */
export const instant: z.ZodType<string> = z.iso.datetime({ precision: 3 })
export const reason: z.ZodType<string> = z.string().max(1_000)
export const summary: z.ZodType<string> = z.string().max(4_000)
export const epoch: z.ZodType<number> = z.number().int().positive()

/**
 * Makes sure that a schema and the type of its values have the same members: a member of only one
 * of them does not compile.
 */
type Frozen<T> = T extends readonly (infer U)[]
  ? readonly Frozen<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T

/**
 * Tests whether two types are identical. Assignability would accept an optional member that only
 * one of them has.
 */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? unknown : never

export function exactly<T>(): <S extends z.ZodType>(
  schema: S & Same<Frozen<z.output<S>>, Frozen<T>>,
) => S {
  return (schema) => schema
}
